import RepriseCore
import Synchronization

/// A client that is tried: gives actions identifiers, waits for events, and says what is wrong with them.
final class ConformanceBench: Sendable {
  /// What a client did that it must not do.
  struct Violation: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  let client: any DataClient
  /// The client identifier, and what topics begin with.
  let name: String
  let request: RequestMessage
  private let patience: Duration
  private let quietTime: Duration
  private let state: Mutex<(lastID: UInt32, time: Timestamp)>

  /// Creates a bench.
  init(
    _ client: any DataClient, name: String, request: RequestMessage, patience: Duration,
    quiet: Duration
  ) {
    self.client = client
    self.name = name
    self.request = request
    self.patience = patience
    quietTime = quiet
    state = Mutex((0, client.now))
  }

  var capabilities: Capabilities { client.capabilities }

  // MARK: Actions

  /// Performs an action.
  /// - Returns: Its identifier.
  @discardableResult
  func perform(_ kind: ClientAction.Kind) async throws -> ClientAction.ID {
    let action = ClientAction(nextID(), kind)
    do {
      try await client.perform(action)
    } catch let error as DataClientError {
      throw Violation("\(kind.name) was refused: \(error)")
    }
    return action.id
  }

  /// Performs an action that has to be refused.
  func expectRefusal(_ code: DataClientError.Code, _ name: String, of kind: ClientAction.Kind)
    async throws
  {
    do {
      try await client.perform(ClientAction(nextID(), kind))
    } catch let error as DataClientError {
      guard error.code != code else { return }
      throw Violation("\(kind.summary) was refused by another code than \(name): \(error)")
    }
    throw Violation("\(kind.summary) was taken, and is to be refused as \(name)")
  }

  private func nextID() -> ClientAction.ID {
    state.withLock { state in
      state.lastID += 1
      return ClientAction.ID(rawValue: state.lastID)
    }
  }

  // MARK: Events

  /// Returns the next event.
  /// - Parameter duration: How long to wait for it.
  /// - Returns: The event.
  /// - Throws: ``Violation``, and what the client throws.
  func next(within duration: Duration) async throws -> ClientEvent {
    let deadline = client.now.advanced(by: duration)
    let event = try await client.next(before: deadline)
    let now = client.now
    let last = state.withLock { state in
      defer { state.time = max(now, state.time) }
      return state.time
    }
    guard now >= last else { throw Violation("now ran backwards, from \(last) to \(now)") }
    if event == .deadline, now < deadline {
      throw Violation("the deadline was told at \(now), and is \(deadline)")
    }
    return event
  }

  /// Waits for one event, past others that may come.
  /// - Parameters:
  ///   - name: The event's, for messages.
  ///   - isWanted: Whether it is the one; it throws for one that must not come.
  /// - Returns: What came before it.
  /// - Throws: ``Violation``, and what the client throws.
  @discardableResult
  func wait(
    for name: String, _ isWanted: (ClientEvent) throws -> Bool
  ) async throws -> [ClientEvent] {
    var others: [ClientEvent] = []
    while true {
      let event = try await next(within: patience)
      if try isWanted(event) { return others }
      switch event {
      case .deadline:
        throw Violation("no \(name) came within \(patience); what came: \(Self.text(others))")
      case .ended, .closed:
        throw Violation("\(event) came, and no \(name); before it came: \(Self.text(others))")
      default: others.append(event)
      }
    }
  }

  /// Expects that nothing comes of what was told.
  /// - Parameter isStray: Whether an event is one that must not come.
  /// - Throws: ``Violation``, and what the client throws.
  func expectQuiet(_ isStray: (ClientEvent) -> Bool) async throws {
    let end = client.now.advanced(by: quietTime)
    while client.now < end {
      let event = try await next(within: quietTime)
      if event == .deadline { return }
      guard !isStray(event) else { throw Violation("\(event) came, and nothing was to come") }
    }
  }

  private static func text(_ events: [ClientEvent]) -> String {
    events.isEmpty ? "nothing" : events.prefix(10).map { "\($0)" }.joined(separator: ", ")
  }

  // MARK: Steps that many obligations begin with

  /// Connects.
  /// - Parameter clientID: As whom; nil is as this bench.
  /// - Throws: ``Violation``, and what the client throws.
  func connect(as clientID: String? = nil) async throws {
    try await perform(.connect(ConnectOptions(clientID: clientID ?? name)))
    try await wait(for: "connected") { event in
      if case .connected = event { true } else { false }
    }
  }

  /// Subscribes to a topic below the bench's.
  func subscribe(_ level: String, qos: QoS = .atLeastOnce) async throws {
    let id = try await perform(.subscribe([Subscription("\(name)/\(level)", qos: qos)]))
    try await wait(for: "subscribed") { event in
      guard case .subscribed(id, let grants) = event else { return false }
      guard grants != [nil] else { throw Violation("the server refused \(name)/\(level)") }
      return true
    }
  }

  /// A message on a topic below the bench's.
  func message(_ level: String, _ payload: [UInt8], qos: QoS, isRetained: Bool = false) -> Message {
    Message(topic: "\(name)/\(level)", payload: payload, qos: qos, isRetained: isRetained)
  }

  /// The highest QoS that the client has.
  var bestQoS: QoS { capabilities.contains(.exactlyOnce) ? .exactlyOnce : .atLeastOnce }
}
