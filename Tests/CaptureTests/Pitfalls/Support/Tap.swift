import RepriseCore
import Testing
import Wire

@testable import Capture

/// What the reader makes of segments, in memory.
struct Tap {
  var events: [Event] = []
  var statistics = TCPStatistics()
  /// How often a connection gave something up for the memory that all share.
  var surrenders = 0
  /// The bytes that are still counted as taken at the end.
  var reserved = 0
  /// The most bytes that were counted as taken behind any segment.
  var mostReserved = 0
  /// Whether any connection was still watched at the end, because something of it waits.
  var isWatching = false

  /// What is said of the connections that give no events.
  var notes: [String] = []

  private final class Box {
    var events: [Event] = []
  }

  init(
    _ segments: [Segment], decode: [UInt16: DecodeRule] = [:], limits: TCPLimits = TCPLimits(),
    memory: Int = InputOptions.defaultMemory, secrets: TLSSecrets = TLSSecrets(),
    time: (Int) -> Int = { $0 }
  ) {
    let box = Box()
    var reassembler = TCPReassembler(
      SessionTraffic(
        decode: decode, memory: memory, secrets: secrets,
        emitter: SessionEmitter { box.events.append(Event(copying: $0)) }),
      limits: limits)
    for (index, segment) in segments.enumerated() {
      let client = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: segment.clientPort)
      let server = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: segment.serverPort)
      let isClient = segment.sender == .client
      var flags = segment.flags
      if segment.acknowledgment != nil { flags.insert(.acknowledgment) }
      reassembler.take(
        TCPSegment(
          frame: index + 1, time: Timestamp(nanoseconds: Int64(time(index))),
          source: isClient ? client : server, destination: isClient ? server : client,
          sequenceNumber: segment.sequence, acknowledgmentNumber: segment.acknowledgment ?? 0,
          flags: flags, window: 65_535, payload: segment.payload.span.bytes,
          payloadWireLength: segment.wireLength ?? segment.payload.count, network: 0,
          headerLength: 20, timestampValue: segment.clock))
      mostReserved = max(mostReserved, reassembler.consumer.budget.reserved)
    }
    isWatching = reassembler.waiting.hasAny(before: .max)
    reassembler.finish()
    statistics = reassembler.statistics
    surrenders = reassembler.consumer.budget.surrenders
    reserved = reassembler.consumer.budget.reserved
    events = box.events
    notes = reassembler.consumer.notes
  }

  init(_ dialogue: Dialogue, decode: [UInt16: DecodeRule] = [:]) {
    self.init(dialogue.segments, decode: decode)
  }

  /// The bytes of all packets of a peer, in order, on one connection or on all.
  func packets(_ peer: Peer, connection: Int? = nil) -> [PacketBytes] {
    events.compactMap { event in
      guard case .mqtt(let packet) = event.body, event.context.sender == peer,
        connection == nil || event.context.connection == connection
      else { return nil }
      return packet
    }
  }

  var gaps: [Gap] {
    events.compactMap { if case .gap(let gap) = $0.body { gap } else { nil } }
  }

  var malformations: [Malformation] {
    events.compactMap {
      if case .malformed(let malformation) = $0.body { malformation } else { nil }
    }
  }

  var openings: [ConnectionOpening] {
    events.compactMap { if case .opened(let opening) = $0.body { opening } else { nil } }
  }

  var closings: [ConnectionClosing.How] {
    events.compactMap { if case .closed(let closing) = $0.body { closing.how } else { nil } }
  }

  /// The faults of all packets, as the packets' own version has them.
  var faults: [MQTTFault.Code] {
    events.flatMap { event in
      event.withView { view -> [MQTTFault.Code] in
        guard case .mqtt(let packet) = view.body else { return [] }
        return packet.faults.map(\.code)
      }
    }
  }
}

extension Tap {
  /// Expects that all of a session was read, and that nothing was missing or wrong.
  func expectWhole(
    _ session: Session, _ comment: Comment = "", _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(packets(.client) == session.packets(.client), comment, sourceLocation: location)
    #expect(packets(.server) == session.packets(.server), comment, sourceLocation: location)
    #expect(
      gaps == [] && malformations == [] && faults == [], comment, sourceLocation: location)
  }
}
