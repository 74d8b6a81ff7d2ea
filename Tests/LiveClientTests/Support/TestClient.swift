import LiveClient
import RepriseCore
import Synchronization
import Testing

/// A client with what every test wants of it: numbers for actions, and a limit to waiting.
final class TestUser<Client: DataClient>: Sendable {
  let client: Client
  private let lastID = Mutex<UInt32>(0)
  /// Events that came before one that was waited for.
  private let skipped = Mutex<[ClientEvent]>([])
  /// The broker lives as long as its client.
  private let broker: Broker?

  init(_ client: Client, broker: Broker? = nil) {
    self.client = client
    self.broker = broker
  }

  @discardableResult func perform(_ kind: ClientAction.Kind) async throws -> ClientAction.ID {
    let id = lastID.withLock { last in
      last += 1
      return ClientAction.ID(rawValue: last)
    }
    try await client.perform(ClientAction(id, kind))
    return id
  }

  /// The next event; that none comes is an error.
  func event(within seconds: Int64 = 120) async throws -> ClientEvent {
    let first = skipped.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let first { return first }
    return try await newEvent(within: seconds)
  }

  /// The next event that is one of the wanted; those that come before it are kept.
  func event<Value>(_ wanted: (ClientEvent) -> Value?) async throws -> Value {
    let index = skipped.withLock { $0.firstIndex { wanted($0) != nil } }
    if let index, let value = wanted(skipped.withLock({ $0.remove(at: index) })) { return value }
    while true {
      let event = try await newEvent(within: 120)
      if let value = wanted(event) { return value }
      if case .closed(let why) = event { throw Child.Failure(description: "closed: \(why)") }
      skipped.withLock { $0.append(event) }
    }
  }

  private func newEvent(within seconds: Int64) async throws -> ClientEvent {
    let start = ContinuousClock.now
    while true {
      let deadline = Timestamp(nanoseconds: client.now.nanoseconds + seconds * 1_000_000_000)
      let event = try await client.next(before: deadline)
      guard event == .deadline else { return event }
      // The client's time stands still while an event waits: after a test was kept from running for
      // long, the deadline may be one of long ago.
      guard start.duration(to: .now) < .seconds(seconds) else {
        throw Child.Failure(description: "nothing happened")
      }
    }
  }

  @discardableResult
  func connect(_ options: ConnectOptions = ConnectOptions()) async throws -> Bool {
    try await perform(.connect(options))
    let event = try await event()
    guard case .connected(let answer) = event else {
      throw Child.Failure(description: "not connected: \(event)")
    }
    return answer.isSessionPresent
  }

  /// Connects, and returns why it did not work.
  func failure(_ options: ConnectOptions = ConnectOptions()) async throws -> ClientEvent.Closed? {
    try await perform(.connect(options))
    guard case .closed(let why) = try await event() else { return nil }
    return why
  }

  @discardableResult
  func subscribe(_ filters: String..., qos: QoS = .exactlyOnce) async throws -> [QoS?] {
    let id = try await perform(.subscribe(filters.map { Subscription($0, qos: qos) }))
    return try await event { event in
      guard case .subscribed(id, let granted) = event else { return nil }
      return granted
    }
  }

  /// Publishes, and waits until it is published.
  func publish(
    _ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce, retained: Bool = false
  ) async throws {
    let id = try await perform(
      .publish(Message(topic: topic, payload: payload, qos: qos, isRetained: retained)))
    try await event { $0 == .published(id) ? () : nil }
  }

  /// The next message.
  func message() async throws -> Message {
    try await event { event in
      guard case .message(let message) = event else { return nil }
      return message
    }
  }

  /// Disconnects, and waits until that is done.
  func disconnect() async throws {
    try await perform(.disconnect)
    while true {
      if case .closed(let why) = try await event() {
        #expect(why == .byUser)
        return
      }
    }
  }

  /// The code of the error with which an action is refused.
  func refusal(_ kind: ClientAction.Kind) async -> DataClientError.Code? {
    do {
      try await perform(kind)
      return nil
    } catch { return (error as? DataClientError)?.code }
  }
}

typealias TestClient = TestUser<MosquittoClient>

extension TestUser<MosquittoClient> {
  convenience init(
    _ url: String, version: MosquittoClient.Version = .v3_1_1, tls: TLSOptions = TLSOptions(),
    limits: MosquittoClient.Limits = MosquittoClient.Limits(), lacking: Capabilities = []
  ) throws {
    self.init(
      try MosquittoClient(
        url: url, version: version, tls: tls, limits: limits, lacking: lacking))
  }

  /// A client that is connected.
  static func connected(
    _ broker: Broker, version: MosquittoClient.Version = .v3_1_1,
    limits: MosquittoClient.Limits = MosquittoClient.Limits(),
    _ options: ConnectOptions = ConnectOptions()
  ) async throws -> TestClient {
    let client = TestClient(
      try MosquittoClient(url: broker.url, version: version, limits: limits), broker: broker)
    try await client.connect(options)
    return client
  }
}

extension ClientEvent {
  /// Whether a server accepts a connection, and has no session of an earlier one; what it says besides is its own affair.
  var beginsSession: Bool {
    if case .connected(let answer) = self { !answer.isSessionPresent } else { false }
  }
}
