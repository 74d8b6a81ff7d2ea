import Foundation
import RepriseCore
import TestSupport
import Testing

/// Every capture with an independent decoder's packets beside it gives the same packets.
@Suite struct ReferenceTests {
  static let names = SharedCaptures.names.filter { (try? reference($0)) != nil }

  static func reference(_ name: String) throws -> [InspectLine] {
    let path = SharedCaptures.path(name) + ".ref.jsonl"
    return try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
      .map { try InspectLine(json: $0) }
  }

  @Test(.capturesOfOthers) func referencesAreThere() { #expect(Self.names.count >= 50) }

  @Test(.capturesOfOthers, arguments: names) func agreesWithReference(_ name: String) throws {
    let events = try EventList.events(of: SharedCaptures.path(name)).events
    // The frames that carry packets are compared elsewhere.
    let expected = try Self.reference(name).filter { !$0.type.hasPrefix("WS_") }
    var connections: [String: [Int]] = [:]
    for event in events {
      guard case .opened(let opening) = event.body else { continue }
      connections[opening.client + ">" + opening.server, default: []]
        .append(event.context.connection)
    }
    var compared = 0
    for (flow, endpoints) in try Self.flows(of: name) {
      // The same two ports again are another connection: they come in the same order.
      let connection = connections[endpoints]?.first
      connections[endpoints] = connections[endpoints].map { Array($0.dropFirst()) }
      for (direction, peer) in [("c2s", Peer.client), ("s2c", .server)] {
        let theirs = expected.filter { $0.int("flow") == flow && $0.string("dir") == direction }
        let stream = events.filter { event in
          event.context.connection == connection && event.context.sender == peer
        }
        let ours = try Self.comparable(stream).map { try InspectLine($0) }
        #expect(ours.map(\.type) == theirs.map(\.type), "\(name) flow \(flow) \(direction)")
        Self.compare(ours, theirs, name)
        compared += ours.count
      }
    }
    #expect(compared == expected.count, "packets of connections that were not recognised")
    let rest = connections.values.filter { !$0.isEmpty }
    #expect(rest.isEmpty, "connections that the reference does not have")
  }

  /// What the reference tells of a direction: packets, and gaps between packets.
  ///
  /// It is silent about bytes that were acknowledged but not captured before the first packet and
  /// after the last.
  private static func comparable(_ stream: [Event]) -> [Event] {
    func isGap(_ event: Event) -> Bool {
      if case .gap = event.body { true } else { false }
    }
    var events = stream.filter { event in
      switch event.body {
      case .mqtt, .malformed: true
      case .gap(let gap): gap.reason == .acknowledged
      case .opened, .closed, .attempted, .handshake, .webSocket, .http, .tls: false
      }
    }
    // Of a direction that was not captured it tells nothing; the acknowledgements of the other one
    // prove each of these losses.
    if events.allSatisfy(isGap) { return [] }
    if let first = events.first, isGap(first) { events.removeFirst() }
    if let last = events.last, isGap(last) { events.removeLast() }
    return events
  }

  /// Client and server by the reference's flow number.
  static func flows(of name: String) throws -> [(Int, String)] {
    let data = try Data(contentsOf: URL(filePath: SharedCaptures.path(name) + ".flows.json"))
    let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    var result: [(Int, String)] = []
    for flow in object?["flows"] as? [[String: Any]] ?? [] {
      guard ["mqtt", "ws"].contains(flow["kind"] as? String), let number = flow["flow"] as? Int,
        let client = flow["client"] as? String, let server = flow["server"] as? String
      else { continue }
      result.append((number, bracketed(client) + ">" + bracketed(server)))
    }
    return result
  }

  /// The reference writes `::1:1883` where RFC 3986 wants `[::1]:1883`.
  private static func bracketed(_ endpoint: String) -> String {
    guard let colon = endpoint.lastIndex(of: ":"), endpoint[..<colon].contains(":") else {
      return endpoint
    }
    return "[" + endpoint[..<colon] + "]" + endpoint[colon...]
  }

  private static func compare(_ ours: [InspectLine], _ theirs: [InspectLine], _ name: String) {
    var isBehindGap = false
    for (our, their) in zip(ours, theirs) {
      if our.type == "GAP" { isBehindGap = true }
      compare(our, their, isBehindGap: isBehindGap, name)
      if our.type != "GAP" { isBehindGap = false }
    }
  }

  private static func compare(
    _ our: InspectLine, _ their: InspectLine, isBehindGap: Bool, _ name: String
  ) {
    let place = Comment(rawValue: "\(name) \(our.type) frame \(their.int("frame") ?? 0)")
    guard our.type == their.type else { return }
    if isBehindGap {
      // The reference names the acknowledgement that proved the loss; ours is the frame that holds
      // the bytes behind it, as the format of `inspect` wants.
      #expect((our.int("frame") ?? 0) <= (their.int("frame") ?? 0), place)
    } else {
      compareTime(our, their, place)
    }
    if our.type == "GAP" {
      #expect(our.int("bytes") == their.int("lost"), place)
      return
    }
    #expect(our.int("length") == their.int("len"), place)
    #expect(our.string("over") == their.string("over").map { _ in "websocket" }, place)
    #expect(our.int("packetID") == their.int("msgid"), place)
    #expect(our.string("topic") == their.string("topic"), place)
    for flag in ["dup", "retain", "qos"] where our.type == "PUBLISH" {
      #expect(our.int(flag) == their.int(flag), place)
    }
    comparePayload(our, their, place)
    compareConnect(our, their, place)
    compareLists(our, their, place)
    // The reference notes no property values: one capture has a Payload Format Indicator of 144,
    // where MQTT 5.0 section 3.1.3.2.3 allows 0 and 1.
    let errors = our.fields["errors"] as? [[String: Any]] ?? []
    let codes = errors.compactMap { $0["code"] as? String }
      .filter { $0 != "invalid-property-value" }
    #expect(codes.isEmpty == (their.fields["malformed"] == nil), place)
  }

  private static func compareTime(_ our: InspectLine, _ their: InspectLine, _ place: Comment) {
    #expect(our.int("frame") == their.int("frame"), place)
    guard let time = their.fields["t"] as? Double else { return }
    let nanoseconds = our.string("time").flatMap { Timestamp($0) }?.nanoseconds ?? 0
    #expect(abs(Double(nanoseconds) / 1e9 - time) < 2e-6, place)
  }

  private static func comparePayload(
    _ our: InspectLine, _ their: InspectLine, _ place: Comment
  ) {
    guard our.type == "PUBLISH", let hex = their.string("payload") else { return }
    let ours = InspectLine.data(our.fields["payload"]).map(Array.init) ?? []
    let theirs = bytes(hex: hex)
    // The reference fills what is missing with zeroes, and leaves out the end of what is long.
    let count = min(ours.count, theirs.count)
    #expect(ours.prefix(count) == theirs.prefix(count), place)
    let missing = our.int("missing") ?? 0
    #expect(missing == their.int("missing_bytes") ?? 0, place)
    #expect(ours.count + missing == their.int("payload_len"), place)
  }

  private static func compareConnect(
    _ our: InspectLine, _ their: InspectLine, _ place: Comment
  ) {
    switch our.type {
    case "CONNECT":
      #expect(our.string("clientID") == their.string("clientid"), place)
      #expect(our.int("keepAlive") == their.int("keepalive"), place)
      #expect(our.string("username") == their.string("username"), place)
      let password = InspectLine.data(our.fields["password"])
      let text = password.map { String(decoding: $0, as: UTF8.self) }
      #expect(text == their.string("password"), place)
      let will = our.fields["will"] as? [String: Any]
      #expect(will?["topic"] as? String == their.string("will_topic"), place)
      let payload = InspectLine.data(will?["payload"]).map(Array.init)
      #expect(payload == their.string("will_payload").map(bytes(hex:)), place)
    case "CONNACK":
      #expect(our.int("returnCode") == their.int("code"), place)
      #expect(our.int("sessionPresent") == their.int("session_present"), place)
    default: break
    }
    if let properties = their.fields["props"] as? [[Any]] {
      let ours = our.fields["properties"] as? [String: Any] ?? [:]
      #expect(Set(ours.keys).count == Set(properties.compactMap { $0[0] as? String }).count, place)
    }
  }

  private static func compareLists(
    _ our: InspectLine, _ their: InspectLine, _ place: Comment
  ) {
    let filters = our.fields["filters"] as? [[String: Any]] ?? []
    let names = filters.compactMap { $0["filter"] as? String }
    let pairs = their.fields["filters"] as? [[Any]] ?? []
    let plain = their.fields["filters"] as? [String] ?? []
    #expect(names == (plain.isEmpty ? pairs.compactMap { $0.first as? String } : plain), place)
    let levels = filters.compactMap { ($0["qos"] as? NSNumber)?.intValue }
    #expect(levels == pairs.compactMap { ($0.last as? NSNumber).map { $0.intValue & 3 } }, place)
    if let codes = their.fields["codes"] as? [Int] {
      #expect(our.fields["reasonCodes"] as? [Int] == codes, place)
    }
  }

  static func bytes(hex: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = hex[...]
    while rest.count >= 2 {
      result.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return result
  }
}
