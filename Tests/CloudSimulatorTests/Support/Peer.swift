import CloudSimulator
import RepriseCore

/// A client whose every step a test makes, and tells in lines.
final class Peer: Sendable {
  let client: InProcessClient
  private let start: Timestamp

  init(_ client: InProcessClient) {
    self.client = client
    start = client.now
  }

  /// A peer that nobody waits for, for tests of one task.
  convenience init(_ broker: InProcessBroker, _ name: String) {
    self.init(broker.client(named: name, isAwaited: false))
  }

  func perform(_ kind: ClientAction.Kind, id: UInt32 = 1) async throws {
    try await client.perform(ClientAction(ClientAction.ID(rawValue: id), kind))
  }

  func connect(_ clientID: String, clean: Bool = true, will: Message? = nil) async throws {
    try await perform(
      .connect(ConnectOptions(clientID: clientID, cleanStart: clean, will: will)))
  }

  func subscribe(_ filter: String, qos: QoS = .atLeastOnce) async throws {
    try await perform(.subscribe([Subscription(filter, qos: qos)]))
  }

  func publish(
    _ topic: String, _ payload: String, qos: QoS = .atLeastOnce, retained: Bool = false
  ) async throws {
    try await perform(
      .publish(
        Message(topic: topic, payload: Array(payload.utf8), qos: qos, isRetained: retained)))
  }

  /// What happens within a time, in lines; without one, what has happened already.
  func lines(for duration: Duration = .zero) async throws -> [String] {
    let nanoseconds =
      duration.components.seconds * 1_000_000_000
      + duration.components.attoseconds / 1_000_000_000
    let deadline = Timestamp(nanoseconds: client.now.nanoseconds + nanoseconds)
    var lines: [String] = []
    while true {
      let event = try await client.next(before: deadline)
      if event == .deadline { return lines }
      lines.append(Self.line(event))
      if event == .ended { return lines }
    }
  }

  /// The seconds since the peer was made.
  var seconds: Double { Double(client.now.nanoseconds(since: start)) / 1_000_000_000 }

  static func line(_ event: ClientEvent) -> String {
    switch event {
    case .connected(let connected):
      connected.isSessionPresent ? "connected, session present" : "connected"
    case .subscribed(_, let granted):
      "subscribed "
        + granted.map { $0.map { "\($0.rawValue)" } ?? "refused" }.joined(separator: " ")
    case .unsubscribed: "unsubscribed"
    case .published: "published"
    case .message(let message):
      "\(message.topic) \(String(decoding: message.payload, as: UTF8.self)) q\(message.qos.rawValue)"
        + (message.isRetained ? " retained" : "")
    case .text(let text): text
    case .binary: "binary"
    case .response: "response"
    case .failed(_, let failure): "failed: \(failure)"
    case .closed(.byUser): "closed"
    case .closed(.refused(let code)): "refused \(code)"
    case .closed(.byServer(let code, let reason)):
      "closed by the server \(code.map { "\($0)" } ?? "-"): \(reason)"
    case .closed(.lost(let reason)): "lost: \(reason)"
    case .closed(.unreached(let reason, _)): "unreached: \(reason)"
    case .deadline: "deadline"
    case .woken: "woken"
    case .ended: "ended"
    }
  }
}
