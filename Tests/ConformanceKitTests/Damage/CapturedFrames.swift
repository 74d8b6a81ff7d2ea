import RepriseCore
import Wire

@testable import Capture
@testable import ConformanceKit

/// A frame of a capture, to be damaged.
struct CapturedFrame {
  /// The direction of a connection: its lower endpoint, its upper one, and which of them sent.
  struct Way: Hashable {
    var key: FlowKey
    var isFromLower: Bool
  }

  var time: Timestamp?
  var linkType: LinkType
  var bytes: [UInt8]
  var wireLength: Int
  /// The direction whose segment it brings; nil where it brings none.
  var way: Way?
}

/// The frames of a capture in the order of the file.
struct CapturedFrames {
  var frames: [CapturedFrame]
  /// Whether each end is told by the other's port.
  var swapsPorts = false
  /// Whether segments that open a connection are left out.
  var leavesOutStarts = false

  init(_ frames: [CapturedFrame]) { self.frames = frames }

  init(path: String) throws {
    frames = []
    var reader = try CaptureReader(path: path)
    var dissector = FrameDissector()
    while let frame = try reader.next() {
      var way: CapturedFrame.Way?
      dissector.dissect(frame) { segment in
        let (key, isFromLower) = FlowKey.of(segment.source, segment.destination)
        way = .init(key: key, isFromLower: isFromLower)
      }
      frames.append(
        CapturedFrame(
          time: frame.time, linkType: frame.linkType, bytes: [UInt8](copying: frame.bytes),
          wireLength: frame.wireLength, way: way))
    }
  }

  /// Hands on the events of the frames as the reader of a capture does.
  func read(_ emit: @escaping (borrowing EventView) -> Void) {
    var dissector = FrameDissector()
    var reassembler = TCPReassembler(SessionTraffic(decode: [:], emitter: SessionEmitter(emit)))
    for (index, frame) in frames.enumerated() {
      let view = Frame(
        number: index + 1, time: frame.time, linkType: frame.linkType,
        bytes: frame.bytes.span.bytes, wireLength: frame.wireLength)
      dissector.dissect(view) { segment in
        if leavesOutStarts, segment.flags.contains(.syn) { return }
        if swapsPorts {
          reassembler.take(segment.withSwappedPorts)
        } else {
          reassembler.take(segment)
        }
      }
    }
    reassembler.finish()
  }

  var events: [Event] {
    let box = Box()
    read { box.events.append(Event(copying: $0)) }
    return box.events
  }

  private final class Box {
    var events: [Event] = []
  }

  /// The clauses that the frames violate, a SHOULD included.
  func violated(_ catalogue: Catalogue) throws -> Set<String> {
    let judge = JudgeBox(
      try ConformanceJudge(
        catalogue: catalogue, options: ConformanceOptions(isStrict: true, maximumFindings: 1)))
    judge.judge.begin(file: "damaged.pcap")
    read { judge.judge.consume($0) }
    judge.judge.endFile()
    let results = judge.judge.report(toolVersion: "1").results
    return Set(results.filter { $0.verdict == .failed }.map(\.clause.id))
  }

  /// What there is to say of the frames.
  func report(_ catalogue: Catalogue) throws -> ConformanceReport {
    let judge = JudgeBox(try ConformanceJudge(catalogue: catalogue))
    judge.judge.begin(file: "damaged.pcap")
    read { judge.judge.consume($0) }
    return judge.judge.report(toolVersion: "1")
  }

  private final class JudgeBox {
    var judge: ConformanceJudge
    init(_ judge: ConformanceJudge) { self.judge = judge }
  }
}

extension TCPSegment {
  /// The same, with the port of each end at the other.
  fileprivate var withSwappedPorts: TCPSegment {
    @_lifetime(copy self) get {
      TCPSegment(
        frame: frame, time: time,
        source: Endpoint(address: source.address, port: destination.port),
        destination: Endpoint(address: destination.address, port: source.port),
        sequenceNumber: sequenceNumber, acknowledgmentNumber: acknowledgmentNumber, flags: flags,
        window: window, payload: payload, payloadWireLength: payloadWireLength, network: network,
        headerLength: headerLength, timestampValue: timestampValue)
    }
  }
}
