/// Why a capture file, or the rest of one, could not be read.
///
/// The description fits on one line and says what is wrong, where it is, and what to do about it.
/// Errors thrown while a file is opened mean that nothing can be read from it; errors thrown later
/// come after every frame before the place has been delivered.
public struct CaptureError: Error, Sendable, Equatable {
  /// The kind of failure; new kinds may be added.
  public struct Code: Sendable, Hashable {
    private enum Value: Hashable, Sendable {
      case notFound, isDirectory, permissionDenied, readFailed, empty, unknownFormat
      case unsupportedVersion, truncated, malformedRecord, recordTooLarge
      case damagedCompression, invalidFilter, invalidKey, unsupportedLinkType
      case captureFailed, outOfOrder
    }

    private let value: Value

    /// There is no file, or no interface, of that name.
    public static let notFound = Code(value: .notFound)
    /// The path names a directory.
    public static let isDirectory = Code(value: .isDirectory)
    /// The file or the interface exists, but this user may not read it.
    public static let permissionDenied = Code(value: .permissionDenied)
    /// The operating system failed to open or to read the file.
    public static let readFailed = Code(value: .readFailed)
    /// The file has no bytes.
    public static let empty = Code(value: .empty)
    /// The content is neither a capture nor a recording.
    public static let unknownFormat = Code(value: .unknownFormat)
    /// The format is known, its version is not.
    public static let unsupportedVersion = Code(value: .unsupportedVersion)
    /// The file ends in the middle of a record; all before that place was delivered.
    public static let truncated = Code(value: .truncated)
    /// A record contradicts itself, so that the place of the next one is unknown.
    public static let malformedRecord = Code(value: .malformedRecord)
    /// A record claims more bytes than any record may have.
    public static let recordTooLarge = Code(value: .recordTooLarge)
    /// The gzip data is damaged.
    public static let damagedCompression = Code(value: .damagedCompression)
    /// libpcap refused the filter expression.
    public static let invalidFilter = Code(value: .invalidFilter)
    /// A key to decrypt by is none that can be used.
    public static let invalidKey = Code(value: .invalidKey)
    /// The frames are of kinds of link that can't be read.
    public static let unsupportedLinkType = Code(value: .unsupportedLinkType)
    /// A part of a capture was captured while the one in front of it was.
    public static let outOfOrder = Code(value: .outOfOrder)
    /// An interface can't be captured, or not any more.
    public static let captureFailed = Code(value: .captureFailed)
  }

  /// The kind of failure.
  public let code: Code
  /// What is wrong, as a phrase without a place and without a full stop.
  public let message: String
  /// The offset of the failure in the file, after decompression; nil if it has no place.
  public let offset: Int?
  /// The number of the frame that could not be read; nil if none was being read.
  public let frame: Int?
  /// What the user can do about it, as an imperative phrase; nil if nothing is known to help.
  public let remedy: String?
  /// The file or the interface, as whoever opened it named it; nil for bytes that were given in memory.
  public private(set) var file: String?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What is wrong, as a phrase.
  ///   - offset: The place in the file, after decompression.
  ///   - frame: The number of the frame that could not be read.
  ///   - remedy: What the user can do about it.
  public init(
    _ code: Code, _ message: String, offset: Int? = nil, frame: Int? = nil, remedy: String? = nil
  ) {
    self.code = code
    self.message = message
    self.offset = offset
    self.frame = frame
    self.remedy = remedy
  }

  /// Whether the input simply ends early, so that what was read until then is sound and complete.
  public var isCut: Bool { code == .truncated }

  /// Returns the same error with the number of a frame, unless it has one.
  func inFrame(_ number: Int) -> CaptureError {
    var error = CaptureError(code, message, offset: offset, frame: frame ?? number, remedy: remedy)
    error.file = file
    return error
  }

  /// Returns the same error with the name of a file, unless it has one; `-` is standard input.
  func inFile(_ path: String) -> CaptureError {
    var error = self
    error.file = file ?? (path == "-" ? "standard input" : path)
    return error
  }
}

extension CaptureError: CustomStringConvertible {
  /// One line: the file, what is wrong, where, and what to do.
  public var description: String { file.map { "\($0): \(reason)" } ?? reason }

  /// The description without the file, for whoever names it otherwise.
  package var reason: String {
    var text = message
    if let offset {
      text += ", at byte offset \(offset)"
      if let frame { text += " (frame \(frame))" }
    } else if let frame {
      text += ", in frame \(frame)"
    }
    if let remedy { text += "; \(remedy)" }
    return text
  }
}
