/// The frames of a pcap or pcapng file, in the order of the file.
///
/// ```swift
/// var reader = try CaptureReader(path: "-")
/// while let frame = try reader.next() { print(frame.number, frame.wireLength) }
/// ```
///
/// A reader of our own, because libpcap refuses pcapng files whose interfaces differ in link type
/// or snapshot length and hides the secrets and interfaces they hold; libpcap stays for capturing
/// and for filter expressions.
///
/// Frames borrow the read buffer: nothing is copied, and memory does not grow with the file.
public struct CaptureReader: ~Copyable {
  /// The most bytes of a frame: 16 MiB, sixty times what libpcap calls the longest snapshot.
  public static let maximumFrameLength = 16 << 20

  /// Whether the file is pcap or pcapng.
  public let format: CaptureFormat
  /// How many frames have been read.
  public private(set) var framesRead = 0
  /// The secrets found so far; at most 8 MiB are kept.
  public var secrets: [SecretsBlock] { pcapng.secrets.blocks }
  /// How many secrets blocks were not kept, because there were too many or they were damaged.
  public var secretsDropped: Int { pcapng.secrets.dropped }

  /// How many frames were lost while the file was captured, as far as it says so up to here; those of pcap never do.
  public var framesDropped: Int { (parts?.framesDropped ?? 0) + pcapng.drops.total }

  /// The same secrets, also those that are still to be found.
  var embeddedSecrets: EmbeddedSecrets { pcapng.secrets }

  private var source: ByteSource
  private var pcap: PcapReader?
  private var pcapng = PcapngReader()
  private var recordLength = 0
  private var hasEnded = false
  /// What errors name; nil for bytes in memory, and where somebody else names the file.
  private var path: String?
  /// The files that it reads as one, and how far it is with them; nil where it reads one alone.
  private(set) var parts: CaptureParts?

  /// Opens a capture.
  ///
  /// - Parameters:
  ///   - path: The path of the file, or `-` for standard input.
  ///   - count: What counts the bytes that are read.
  /// - Throws: `CaptureError` if nothing can be read from it.
  public init(path: String, counting count: ReadCount? = nil) throws(CaptureError) {
    do throws(CaptureError) {
      try self.init(ByteSource(path: path, counting: count))
    } catch { throw error.inFile(path) }
    self.path = path
  }

  /// Opens the parts of one capture, as a program that captures into one file after the other leaves them.
  ///
  /// Frames are counted through all of them. What is damaged in one that is not the last ends that one alone.
  /// - Parameters:
  ///   - paths: The files, in the order in which they were captured: ``CaptureParts/inOrder(_:)``.
  ///   - count: What counts the bytes that are read.
  /// - Throws: `CaptureError` if nothing can be read from the first.
  init(joining paths: [String], counting count: ReadCount? = nil) throws(CaptureError) {
    try self.init(ByteSource(path: paths.first ?? "", counting: count))
    guard paths.count > 1 else { return }
    path = paths.first
    parts = CaptureParts(paths, counting: count)
  }

  /// Reads a capture from bytes.
  ///
  /// - Parameter source: The file, at its beginning.
  /// - Throws: `CaptureError` if it is no capture, or one of an unknown version.
  public init(_ source: consuming ByteSource) throws(CaptureError) {
    let format = try CaptureFormat.detect(in: &source)
    switch format {
    case .pcap: pcap = try PcapReader(&source)
    case .pcapng: pcap = nil
    case .recording:
      throw CaptureError(
        .unknownFormat, "this is a recording, not a capture", offset: 0,
        remedy: "name a pcap or pcapng file")
    }
    self.format = format
    self.source = source
  }

  /// Reads the next frame.
  ///
  /// - Returns: The frame, valid until the next call; nil after the last one, and after an error.
  /// - Throws: `CaptureError` if the file is cut or damaged here; every frame before has been
  ///   delivered. A file that was only cut has ``CaptureError/isCut`` set.
  @inline(__always)
  @_lifetime(&self)
  public mutating func next() throws(CaptureError) -> Frame? {
    guard let record = try nextRecord() else { return nil }
    let bytes = source.peek(record.length)
      .clamped(record.dataOffset, record.dataOffset &+ record.capturedLength)
    return Frame(
      number: framesRead, time: record.time, linkType: record.linkType,
      interfaceID: record.interfaceID, bytes: bytes, wireLength: record.wireLength)
  }

  /// Whether the file comes through a pipe.
  var isPiped: Bool { source.isPiped }

  /// Has something looked after while the pipe has nothing.
  mutating func keep(_ pace: PipePace) { source.keep(pace) }

  /// What the header of a file of pcap says; nil of pcapng.
  var pcapHeader: PcapReader.FileHeader? { pcap?.header }

  /// Hands on the blocks of a pcapng file that carry no frame, each as it stands there, with its type and its order.
  mutating func keepBlocks(_ take: @escaping (RawSpan, UInt32, ByteOrder) -> Void) {
    pcapng.keep = take
  }

  /// Reads the next frame together with what surrounds it in the file: its record of pcap, or its block of pcapng.
  /// - Parameter body: Takes both.
  /// - Returns: Whether there was one.
  /// - Throws: `CaptureError`, as ``next()`` does.
  mutating func nextRecord(
    _ body: (borrowing Frame, RawSpan) -> Void
  ) throws(CaptureError) -> Bool {
    guard let record = try nextRecord() else { return false }
    let whole = source.peek(record.length)
    let bytes = whole.clamped(record.dataOffset, record.dataOffset &+ record.capturedLength)
    let frame = Frame(
      number: framesRead, time: record.time, linkType: record.linkType,
      interfaceID: record.interfaceID, bytes: bytes, wireLength: record.wireLength)
    body(frame, whole)
    return true
  }

  private mutating func nextRecord() throws(CaptureError) -> FrameRecord? {
    source.consume(recordLength)
    recordLength = 0
    guard !hasEnded else { return nil }
    guard parts == nil else { return try nextOfParts() }
    return try nextOfFile(framesBefore: 0)
  }

  /// Reads the next record of all parts, of which the next begins where one ends, or is damaged.
  @inline(never)
  private mutating func nextOfParts() throws(CaptureError) -> FrameRecord? {
    while true {
      do throws(CaptureError) {
        if let record = try nextOfFile(framesBefore: parts?.framesBefore ?? 0) {
          try parts?.note(record, number: framesRead)
          return record
        }
      } catch {
        guard parts?.isLast == false, parts?.isOutOfOrder == false else { throw error }
        parts?.cuts.append(error)
      }
      guard let next = parts?.takeNext(after: framesRead, dropped: pcapng.drops.total) else {
        return nil
      }
      do throws(CaptureError) { try open(next) } catch { throw error.inFile(next) }
    }
  }

  /// Goes on with another file.
  private mutating func open(_ path: String) throws(CaptureError) {
    var source = try ByteSource(path: path, counting: parts?.count)
    pcapng = PcapngReader(keeping: pcapng.secrets)
    switch try CaptureFormat.detect(in: &source) {
    case .pcap: pcap = try PcapReader(&source)
    case .pcapng: pcap = nil
    case .recording: throw CaptureParts.recording
    }
    self.source = source
    self.path = path
    hasEnded = false
  }

  @inline(__always)
  private mutating func nextOfFile(
    framesBefore: Int
  ) throws(CaptureError) -> FrameRecord? {
    do throws(CaptureError) {
      let record =
        if let pcap {
          try pcap.next(&source)
        } else {
          try pcapng.next(&source, framesRead: framesRead)
        }
      guard let record else {
        hasEnded = true
        return nil
      }
      framesRead &+= 1
      recordLength = record.length
      return record
    } catch {
      hasEnded = true
      let error = error.inFrame(framesRead + 1 - framesBefore)
      throw path.map(error.inFile) ?? error
    }
  }
}
