import Capture
import RepriseCore

/// A frame as a test can keep it.
struct SeenFrame: Equatable {
  let number: Int
  let time: Timestamp?
  let linkType: LinkType
  let interfaceID: Int
  let bytes: [UInt8]
  let wireLength: Int
}

/// A segment as a test can keep it.
struct SeenSegment: Equatable {
  let frame: Int
  let source: String
  let destination: String
  let sequenceNumber: UInt32
  let flags: TCPFlags
  let payload: [UInt8]
  let wireLength: Int
}

/// All there is to know about a file after it was read to its end.
struct Reading {
  var frames: [SeenFrame] = []
  var segments: [SeenSegment] = []
  var statistics = CaptureStatistics()
  var secrets: [SecretsBlock] = []
  var secretsDropped = 0
  var framesDropped = 0
  /// The error in the middle of the file.
  var error: CaptureError?

  /// Reads a file; throws if nothing can be read.
  init(_ bytes: [UInt8]) throws(CaptureError) {
    try self.init(CaptureReader(ByteSource(bytes: bytes)))
  }

  init(path: String) throws(CaptureError) {
    try self.init(CaptureReader(path: path))
  }

  private init(_ opened: consuming CaptureReader) throws(CaptureError) {
    var reader = opened
    var dissector = FrameDissector()
    do throws(CaptureError) {
      while let frame = try reader.next() {
        frames.append(
          SeenFrame(
            number: frame.number, time: frame.time, linkType: frame.linkType,
            interfaceID: frame.interfaceID, bytes: frame.bytes.array, wireLength: frame.wireLength))
        dissector.dissect(frame) { segments.append(SeenSegment($0)) }
      }
    } catch { self.error = error }
    statistics = dissector.statistics
    secrets = reader.secrets
    secretsDropped = reader.secretsDropped
    framesDropped = reader.framesDropped
  }
}

/// Takes frames of one link type apart, in memory.
struct Dissection {
  var segments: [SeenSegment] = []
  var statistics = CaptureStatistics()

  init(_ linkType: LinkType, _ frames: [[UInt8]], cutTo captured: Int? = nil) {
    var dissector = FrameDissector()
    for (index, bytes) in frames.enumerated() {
      let span = bytes.span.bytes.extracting(0..<min(captured ?? bytes.count, bytes.count))
      let frame = Frame(
        number: index + 1, time: nil, linkType: linkType, bytes: span, wireLength: bytes.count)
      dissector.dissect(frame) { segments.append(SeenSegment($0)) }
    }
    statistics = dissector.statistics
  }
}

extension SeenSegment {
  init(_ segment: borrowing TCPSegment) {
    frame = segment.frame
    source = segment.source.description
    destination = segment.destination.description
    sequenceNumber = segment.sequenceNumber
    flags = segment.flags
    payload = segment.payload.array
    wireLength = segment.payloadWireLength
  }
}

extension RawSpan {
  var array: [UInt8] { withUnsafeBytes { Array($0) } }
}
