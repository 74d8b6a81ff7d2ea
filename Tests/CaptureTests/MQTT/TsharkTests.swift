import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// Every recording gives the packets that tshark sees in it, frame by frame.
@Suite struct TsharkTests {
  @Test func recordingsAreThere() { #expect(PackageFolder.captured.count >= 5) }

  /// tshark 4.0 has no MQTT over WebSocket; its frames are compared elsewhere.
  @Test(arguments: PackageFolder.captured) func agreesWithTshark(_ name: String) throws {
    let path = PackageFolder.capture(name)
    let events = try EventList.events(of: path).events
    var ports: Set<String> = []
    var ours: [Packet] = []
    for event in events {
      switch event.body {
      case .opened(let opening):
        guard event.context.wire != .webSocket else { continue }
        ports.insert(opening.server.split(separator: ":").last.map(String.init) ?? "")
      case .mqtt where event.context.over == nil: ours.append(try Packet(event))
      case .gap, .malformed, .attempted:
        Issue.record("\(name): a recording of ours has no \(event.body)")
      case .closed, .mqtt, .handshake, .webSocket, .http, .tls: break
      }
    }
    let theirs = try Self.tshark(path, ports: ports)
    #expect(ours == theirs)
    #expect(!ours.isEmpty || name.contains("websocket"))
  }

  /// What both tools tell of a packet.
  struct Packet: Equatable {
    var frame: Int
    var type: Int
    var length: Int

    init(frame: Int, type: Int, length: Int) {
      self.frame = frame
      self.type = type
      self.length = length
    }

    init(_ event: Event) throws {
      let line = try InspectLine(event)
      let type = MQTTPacketType.allCases.first { "\($0.name)" == line.type }
      self.init(
        frame: event.context.frame, type: Int(try #require(type).rawValue),
        length: try #require(line.int("length")))
    }
  }

  private static func tshark(_ path: String, ports: Set<String>) throws -> [Packet] {
    let lines = try Tshark.lines(
      path, ["-Y", "mqtt"] + ports.flatMap { ["-d", "tcp.port==\($0),mqtt"] },
      fields: ["frame.number", "mqtt.msgtype", "mqtt.len"])
    var packets: [Packet] = []
    for line in lines {
      let columns = line.split(separator: "\t")
      let types = columns[1].split(separator: ",")
      for (type, length) in zip(types, columns[2].split(separator: ",")) {
        packets.append(
          Packet(
            frame: try #require(Int(columns[0])), type: try #require(Int(type)),
            length: try #require(Int(length))))
      }
    }
    return packets
  }
}
