import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Every capture with reassembled streams beside it gives the same streams, byte for byte.
@Suite struct StreamReferenceTests {
  @Test(.capturesOfOthers, arguments: SharedCaptures.namesWithExpectation)
  func agreesWithReference(_ name: String) throws {
    let flows = try Streams.read(SharedCaptures.path(name))
    var expected = try Reference.flows(of: name).filter { $0.a2b.bytes + $0.b2a.bytes > 0 }
    for flow in flows where !flow.first.isEmpty || !flow.second.isEmpty {
      let names = [
        Reference.unbracketed(flow.opening.first), Reference.unbracketed(flow.opening.second),
      ]
      let index = expected.firstIndex { $0.a == names[0] && $0.b == names[1] }
      let reversed = expected.firstIndex { $0.a == names[1] && $0.b == names[0] }
      let found = try #require(index ?? reversed, "\(name): \(names) is not in the reference")
      let reference = expected.remove(at: found)
      let (first, second) =
        index == nil ? (reference.b2a, reference.a2b) : (reference.a2b, reference.b2a)
      if Self.resetsWithText.contains(name) {
        #expect(flow.first.isEmpty && first.bytes == 13)
      } else {
        try Self.compare(flow.first, first, "\(name) \(names[0]) > \(names[1])")
      }
      try Self.compare(flow.second, second, "\(name) \(names[1]) > \(names[0])")
    }
    #expect(expected.isEmpty, "\(name): streams that are not found")
  }

  /// Streams that the reference has and the standard does not: text in a reset is an explanation for
  /// people and never reaches the application (RFC 9293 section 3.5.3, RFC 1122 section 4.2.2.12).
  private static let resetsWithText = ["suricata-verify/tcp-rst-unacked-stream-03-gap.pcap"]

  private static func compare(
    _ stream: [UInt8], _ reference: Reference.Direction, _ place: Comment
  ) throws {
    #expect(stream.count == reference.bytes, place)
    #expect(try Digest.sha256(of: stream).hasPrefix(reference.sha), place)
  }

  /// What `F.streams.json` says of the connections of a capture.
  struct Reference: Decodable {
    struct Flow: Decodable {
      let a: String
      let b: String
      let a2b: Direction
      let b2a: Direction
    }
    struct Direction: Decodable {
      let bytes: Int
      let sha: String
    }
    let flows: [Flow]

    static func flows(of name: String) throws -> [Flow] {
      let data = try Data(contentsOf: URL(filePath: SharedCaptures.path(name) + ".streams.json"))
      return try JSONDecoder().decode(Reference.self, from: data).flows
    }

    /// The reference writes `::1:1883` where RFC 3986 wants `[::1]:1883`.
    static func unbracketed(_ endpoint: Endpoint) -> String {
      endpoint.description.filter { $0 != "[" && $0 != "]" }
    }
  }
}

/// Collects the streams of all connections, losses filled with zeroes as the reference does it.
struct Streams: TCPConsumer {
  final class Flow {
    let opening: FlowOpening
    var first: [UInt8] = []
    var second: [UInt8] = []
    /// Bytes lost, to be filled in when something follows them.
    var lost = [0, 0]

    init(_ opening: FlowOpening) { self.opening = opening }
  }

  var flows: [Flow] = []

  static func read(_ path: String) throws -> [Flow] {
    var reader = try CaptureReader(path: path)
    var dissector = FrameDissector()
    var reassembler = TCPReassembler(Streams())
    do throws(CaptureError) {
      while let frame = try reader.next() { dissector.dissect(frame) { reassembler.take($0) } }
    } catch { guard reader.framesRead > 0 else { throw error } }
    reassembler.finish()
    return reassembler.consumer.flows
  }

  mutating func opened(_ opening: FlowOpening) -> Flow {
    let flow = Flow(opening)
    flows.append(flow)
    return flow
  }

  func beginsSession(_ bytes: RawSpan) -> Bool { false }
  func answersSession(_ bytes: RawSpan) -> Bool { false }

  mutating func received(_ bytes: RawSpan, _ direction: TCPDirection<Flow>) -> Bool {
    let (flow, side) = (direction.connection, direction.side)
    var stream = side == .first ? flow.first : flow.second
    // A leading gap is left out, and of a huge one 8 MiB are enough to show it.
    if !stream.isEmpty || !flow.opening.isFromStart {
      stream += Array(repeating: 0, count: min(flow.lost[side.rawValue], 8 << 20))
    }
    flow.lost[side.rawValue] = 0
    stream += Array(copying: bytes)
    if side == .first { flow.first = stream } else { flow.second = stream }
    return true
  }

  mutating func lost(
    _ count: Int, _ reason: Gap.Reason, _ direction: TCPDirection<Flow>
  ) -> Bool {
    direction.connection.lost[direction.side.rawValue] += count
    return true
  }

  mutating func closed(_ closing: FlowClosing, on flow: Flow) {}
}

/// Digests by the system's own tool, which owes this package nothing.
enum Digest {
  static func sha256(of bytes: [UInt8]) throws -> String {
    try ProgramRun(["sha256sum"], input: bytes).output
  }
}
