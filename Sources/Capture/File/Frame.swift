public import RepriseCore

/// One captured frame, borrowed from the reader until it reads the next one.
public struct Frame: ~Escapable {
  /// The number in the file, from 1, as other tools count.
  public let number: Int
  /// When it was captured; nil where the file does not say (pcapng's Simple Packet Block).
  public let time: Timestamp?
  /// What its bytes begin with.
  public let linkType: LinkType
  /// The number of its interface in the section of the file, from 0.
  public let interfaceID: Int
  /// The bytes that were captured.
  public let bytes: RawSpan
  /// How many bytes were on the wire; more than were captured if a snapshot length cut them.
  public let wireLength: Int

  /// Creates a frame.
  ///
  /// - Parameters:
  ///   - number: The number in the file, from 1.
  ///   - time: When it was captured.
  ///   - linkType: What its bytes begin with.
  ///   - interfaceID: The number of its interface.
  ///   - bytes: The captured bytes.
  ///   - wireLength: How many bytes were on the wire; less than were captured is not believed.
  @_lifetime(copy bytes)
  public init(
    number: Int, time: Timestamp?, linkType: LinkType, interfaceID: Int = 0, bytes: RawSpan,
    wireLength: Int
  ) {
    self.number = number
    self.time = time
    self.linkType = linkType
    self.interfaceID = interfaceID
    self.bytes = bytes
    self.wireLength = Swift.max(wireLength, bytes.byteCount)
  }

  /// Whether a snapshot length cut it.
  public var isCut: Bool { wireLength > bytes.byteCount }
}

/// Where a frame stands in the record that a file reader looks at, and what the record says of it.
struct FrameRecord {
  var time: Timestamp?
  var linkType: LinkType
  var interfaceID = 0
  /// The length of the whole record, with what precedes and follows the frame.
  var length: Int
  /// Where in the record the frame begins.
  var dataOffset: Int
  var capturedLength: Int
  var wireLength: Int
}
