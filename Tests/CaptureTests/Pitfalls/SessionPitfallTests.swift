import RepriseCore
import TestSupport
import Testing
import Wire

/// Pitfalls 29 to 31: what packets leave out, and what outlives a connection.
@Suite struct SessionPitfallTests {
  /// Reads the fields that a closure wants of every packet.
  private static func fields<Field>(
    _ events: [Event], _ read: (borrowing MQTTPacketView) -> Field?
  ) -> [Field] {
    events.compactMap { event in
      event.withView { view -> Field? in
        guard case .mqtt(let packet) = view.body else { return nil }
        return read(packet)
      }
    }
  }

  private static func tap(_ packets: [(Peer, [UInt8])]) -> Tap {
    var session = Session()
    session.say(.client, .connect(.init(clientID: "c")), .v5_0)
    session.say(.server, .connack(.init()), .v5_0)
    session.turns += packets.map { (sender: $0.0, bytes: $0.1) }
    return Tap(session.dialogue())
  }

  @Test("29: a reason code that is left out is success, one that stands alone is itself")
  func reasonCodes() {
    let tap = Self.tap([
      (.server, [0x40, 2, 0, 1]), (.server, [0x40, 3, 0, 1, 0x10]),
      (.server, [0x40, 4, 0, 1, 0x97, 0]),
      (.server, [0xE0, 1, 0x8B]), (.client, [0xE0, 0]),
    ])
    let codes = Self.fields(tap.events) { packet in
      packet.type == .connack ? nil : packet.reasonCode
    }
    #expect(codes == [0, 0x10, 0x97, 0x8B, 0])
    #expect(tap.faults.isEmpty)
  }

  @Test("30: an empty topic with an alias is no fault, with or without what gave it its meaning")
  func topicAlias() {
    let named: [UInt8] = [0x30, 8, 0, 1, 0x74, 3, 0x23, 0, 4, 0x78]
    let alias: [UInt8] = [0x30, 7, 0, 0, 3, 0x23, 0, 4, 0x79]
    for packets in [[named, alias], [alias]] {
      let tap = Self.tap(packets.map { (.client, $0) })
      #expect(tap.faults.isEmpty)
      #expect(tap.packets(.client).dropFirst().map(\.bytes) == packets)
      let aliases = Self.fields(tap.events) { packet in packet.properties.integer(.topicAlias) }
      #expect(aliases == packets.map { _ in 4 })
    }
  }

  @Test("30: aliases in a real capture", .capturesOfOthers)
  func aliasForReal() throws {
    let path = SharedCaptures.path("made-here/g02_mqtt5_rpc_props.pcap")
    let events = try EventList.events(of: path).events
    let isEmpty = Self.fields(events) { packet -> Bool? in
      packet.type == .publish && packet.properties.integer(.topicAlias) != nil
        ? packet.topic.isEmpty : nil
    }
    #expect(isEmpty.contains(true) && isEmpty.contains(false))
    #expect(Self.fields(events) { $0.faults.isEmpty ? nil : $0.faults }.isEmpty)
  }

  @Test(
    "31: a redelivery on another connection keeps its identifier, and has DUP set",
    .capturesOfOthers)
  func redelivery() throws {
    let path = SharedCaptures.path("made-here/g15_persistent_session_dup_redelivery.pcap")
    let events = try EventList.events(of: path).events
    struct Delivery: Hashable {
      var connection: Int
      var packetID: UInt16?
      var dup: Bool
      var payload: [UInt8]
    }
    let deliveries = events.compactMap { event in
      event.withView { view -> Delivery? in
        guard case .mqtt(let packet) = view.body, packet.type == .publish, packet.qos > 0 else {
          return nil
        }
        return Delivery(
          connection: view.context.connection, packetID: packet.packetID, dup: packet.dup,
          payload: Array(copying: packet.payload))
      }
    }
    let again = deliveries.filter(\.dup)
    #expect(!again.isEmpty)
    for delivery in again {
      #expect(
        deliveries.contains { first in
          !first.dup && first.connection < delivery.connection
            && first.packetID == delivery.packetID && first.payload == delivery.payload
        })
    }
  }

  @Test(
    "31: the answers of an exchange that began before the connection are read",
    arguments: [
      MQTTVersion.v3_1_1, .v5_0,
    ])
  func exchangeAcrossConnections(_ version: MQTTVersion) {
    var session = Session()
    session.say(.client, .connect(.init(clientID: "c", cleanStart: false)), version)
    session.say(.server, .connack(.init(sessionPresent: true)), version)
    session.say(.client, .acknowledgement(.pubrel, packetID: 9, .init()), version)
    session.say(.server, .acknowledgement(.pubcomp, packetID: 9, .init()), version)
    let tap = Tap(session.dialogue())
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.packets(.server) == session.packets(.server))
    #expect(tap.faults.isEmpty)
  }
}
