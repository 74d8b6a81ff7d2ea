import CloudSimulator
import RepriseCore
import RepriseTesting
import Testing

/// A lamp's tests as the users of this package write them: recorded once from a broker, replayed ever since.
@Suite struct LampTests {
  @Test(.replay("lamp") { InProcessBroker().client(named: "lamp") })
  func takesOrders() async throws {
    let client = try TestClient.current
    var lamp = Lamp(client)
    #expect(try await lamp.obey(["on", "off"]) == ["on", "off"])
    client.expect(
      transcript: """
        → CONNECT lamp
        ← connected
        → SUBSCRIBE home/lamp qos 1
        ← subscribed qos 1
        → PUBLISH home/lamp qos 1 "on"
        ← message home/lamp qos 1 "on"
        → PUBLISH home/lamp qos 1 "off"
        ← message home/lamp qos 1 "off"
        → DISCONNECT
        ← closed by the user
        """)
  }
}

/// An app on one of the connections of a capture.
@Suite struct SelectionTests {
  private static let folder =
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
    + "/Recordings/qos-levels-v311"

  /// Raises an alarm as a sensor of the capture did.
  private static func raiseAlarm(on client: any DataClient) async throws {
    let payload = Array(#"{"level":"high","code":17}"#.utf8)
    let alarm = Message(topic: "plant/boiler/alarm", payload: payload, qos: .exactlyOnce)
    var actions: [ClientAction.Kind] = [
      .connect(ConnectOptions(clientID: "sensor-2")), .publish(alarm), .disconnect,
    ]
    actions.reverse()
    var number: UInt32 = 0
    while let action = actions.popLast() {
      number += 1
      try await client.perform(ClientAction(.init(rawValue: number), action))
      _ = try await client.next(before: nil)
    }
  }

  @Test(.replay("capture.pcap", of: .connection(4), in: folder))
  func aTraitChoosesAConnection() async throws {
    let client = try TestClient.current
    try await Self.raiseAlarm(on: client)
    #expect(client.transcript.count == 5)
  }

  /// So that one run makes all recordings anew.
  @Test func aCaptureIsReplayedWhereAllIsRecorded() async throws {
    let told = try await ToldIssues.running(
      .replay("capture.pcap", of: .connection(4), in: Self.folder), ["REPRISE_RECORD": "all"]
    ) {
      let client = try TestClient.current
      #expect(client.isReplaying)
      try await Self.raiseAlarm(on: client)
    }
    #expect(told == ToldIssues())
  }

  @Test func aCassetteChoosesAConnection() async throws {
    let cassette = try Cassette("capture.pcap", of: .connection(4), in: Self.folder)
    try await cassette.withClient { try await Self.raiseAlarm(on: $0) }
    let other = try Cassette("capture.pcap", in: Self.folder)
    let error = await #expect(throws: DataClientError.self) {
      try await other.withClient { try await Self.raiseAlarm(on: $0) }
    }
    #expect(error?.message.contains("sensor-2") ?? false, "\(error?.message ?? "")")
  }
}

/// An app on the bare port: a lamp that gives itself orders.
struct Lamp {
  private let client: any DataClient
  private var lastID: UInt32 = 0

  init(_ client: any DataClient) { self.client = client }

  /// Connects, gives every order, waits for it, and leaves.
  /// - Returns: The orders that came.
  mutating func obey(_ orders: [String]) async throws -> [String] {
    try await perform(.connect(ConnectOptions(clientID: "lamp")))
    _ = try await next { $0 == .connected(.init()) }
    try await perform(.subscribe([Subscription("home/lamp")]))
    _ = try await next { if case .subscribed = $0 { true } else { false } }
    var heard: [String] = []
    for order in orders {
      let message = Message(topic: "home/lamp", payload: Array(order.utf8), qos: .atLeastOnce)
      try await perform(.publish(message))
      let event = try await next { if case .message = $0 { true } else { false } }
      if case .message(let message) = event {
        heard.append(String(decoding: message.payload, as: UTF8.self))
      }
    }
    try await perform(.disconnect)
    _ = try await next { if case .closed = $0 { true } else { false } }
    return heard
  }

  /// Gives another order than any recording has, in a task whose calls don't come through the test's file.
  static func obeyApart(_ client: any DataClient) async throws {
    try await Task {
      var lamp = Lamp(client)
      _ = try await lamp.obey(["blue"])
    }.value
  }

  private mutating func perform(_ kind: ClientAction.Kind) async throws {
    lastID += 1
    try await client.perform(ClientAction(ClientAction.ID(rawValue: lastID), kind))
  }

  /// Reads to an event.
  private func next(_ isWanted: (ClientEvent) -> Bool) async throws -> ClientEvent {
    while true {
      let event = try await client.next(before: nil)
      if isWanted(event) { return event }
      if event == .ended { throw DataClientError(.noAnswer, "the lamp's world has ended") }
    }
  }
}
