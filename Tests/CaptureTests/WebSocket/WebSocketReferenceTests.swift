import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// Every capture with an independent decoder's frames beside it gives the same frames and messages.
@Suite struct WebSocketReferenceTests {
  static let names = ReferenceTests.names.filter { name in
    ((try? ReferenceTests.reference(name)) ?? []).contains { $0.type.hasPrefix("WS_") }
  }

  @Test(.capturesOfOthers) func referencesAreThere() { #expect(Self.names.count >= 7) }

  @Test(.capturesOfOthers, arguments: names) func agreesWithReference(_ name: String) throws {
    let events = try EventList.events(of: SharedCaptures.path(name)).events
    let expected = try ReferenceTests.reference(name).filter { $0.type.hasPrefix("WS_") }
    var connections: [String: Int] = [:]
    for event in events {
      guard case .opened(let opening) = event.body else { continue }
      connections[opening.client + ">" + opening.server] = event.context.connection
      #expect(opening.isFromStart && opening.evidence == nil)
    }
    var compared = 0
    for (flow, endpoints) in try ReferenceTests.flows(of: name) {
      let connection = try #require(connections[endpoints])
      for (direction, peer) in [("c2s", Peer.client), ("s2c", .server)] {
        let theirs = expected.filter { $0.int("flow") == flow && $0.string("dir") == direction }
        let ours = events.filter {
          $0.context.connection == connection && $0.context.sender == peer
        }
        try Self.compareFrames(ours, theirs.filter { $0.type == "WS_FRAME" }, name)
        try Self.compareMessages(ours, theirs.filter { $0.type == "WS_MESSAGE" }, name)
        compared += theirs.count
      }
      try Self.compareHandshake(
        events.filter { $0.context.connection == connection }, of: flow, name)
    }
    #expect(compared == expected.count, "frames of connections that were not recognised")
    let faults = try Self.codes(of: events)
    // What these two captures do wrong: an unmasked ping, and a key of 18 bytes.
    let known = ["suricata-verify/websocket-ping.pcap": ["unmasked-from-client"]]
      .merging(["suricata-verify/websocket-control-frag.pcap": ["invalid-key"]]) { first, _ in first
      }
    #expect(faults == known[name] ?? [])
  }

  private static func codes(of events: [Event]) throws -> [String] {
    try events.flatMap { event in
      (try InspectLine(event).fields["errors"] as? [[String: Any]] ?? [])
        .compactMap { $0["code"] as? String }
    }
  }

  private static func compareFrames(
    _ events: [Event], _ theirs: [InspectLine], _ name: String
  ) throws {
    let ours = events.filter { if case .webSocket = $0.body { true } else { false } }
    #expect(ours.count == theirs.count, "\(name)")
    for (event, their) in zip(ours, theirs) {
      let place = Comment(rawValue: "\(name) frame \(their.int("frame") ?? 0)")
      guard case .webSocket(let frame) = event.body else { continue }
      let line = try InspectLine(event)
      #expect(line.int("frame") == their.int("frame"), place)
      #expect(Int(frame.header.opcode.rawValue) == their.int("opcode"), place)
      #expect(line.int("fin") == their.int("fin"), place)
      #expect(line.int("rsv") ?? 0 == their.int("rsv"), place)
      #expect(line.int("masked") == their.int("masked"), place)
      #expect(line.int("length") == their.int("len"), place)
      #expect(frame.encoded().count == their.int("size"), place)
      #expect(line.int("closeCode") == their.int("close_code"), place)
      #expect(line.string("closeReason") == their.string("close_reason"), place)
      if frame.header.opcode != .close, let payload = their.string("payload") {
        #expect(frame.payload == ReferenceTests.bytes(hex: payload), place)
      }
    }
  }

  private static func compareMessages(
    _ events: [Event], _ theirs: [InspectLine], _ name: String
  ) throws {
    var assembler = WebSocketAssembler()
    var ours: [(frame: Int, message: WebSocketAssembler.Message)] = []
    for event in events {
      event.withView { view in
        guard case .webSocket(let frame) = view.body, let message = assembler.take(frame) else {
          return
        }
        ours.append((event.context.frame, message))
      }
    }
    #expect(ours.count == theirs.count, "\(name)")
    for ((frame, message), their) in zip(ours, theirs) {
      let place = Comment(rawValue: "\(name) frame \(frame)")
      #expect(frame == their.int("frame"), place)
      #expect(message.isComplete && message.data.count == their.int("payload_len"), place)
      #expect(message.isText == (their.int("opcode") == 1), place)
      let bytes = ReferenceTests.bytes(hex: their.string("payload") ?? "")
      // The reference leaves out the end of what is long.
      #expect(message.data.starts(with: bytes) && bytes.count >= min(64, message.data.count), place)
    }
  }

  /// What `F.flows.json` says of the handshake.
  private static func compareHandshake(
    _ events: [Event], of flow: Int, _ name: String
  ) throws {
    let data = try Data(contentsOf: URL(filePath: SharedCaptures.path(name) + ".flows.json"))
    let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let flows = object?["flows"] as? [[String: Any]] ?? []
    let their = try #require(flows.first { $0["flow"] as? Int == flow })
    let lines = try events.map { try InspectLine($0) }
    let request = try #require(lines.first { $0.type == "UPGRADE" })
    let response = try #require(lines.first { $0.type == "UPGRADED" })
    let first = "\(request.string("method") ?? "") \(request.string("target") ?? "") HTTP/1.1"
    #expect(first == their["request"] as? String)
    #expect(response.int("status") == 101)
    #expect(response.string("subprotocol") == their["subprotocol"] as? String)
    let extensions = (response.fields["extensions"] as? [String] ?? []).joined(separator: ", ")
    #expect(extensions == their["extensions"] as? String)
  }
}
