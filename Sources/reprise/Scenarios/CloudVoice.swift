import LiveClient
import RepriseCore
import Synchronization

/// The cloud's own connection to a broker, by which it says what a scenario wants said.
///
/// It connects when there is something to say. Only one task uses it at a time.
final class CloudVoice: Sendable {
  private struct State {
    var isConnected = false
    var lastID: UInt32 = 0
    /// The topics on which the broker keeps what was said.
    var retained: Set<String> = []
  }

  private let client: MosquittoClient
  private let state = Mutex(State())

  /// How long the broker may take for an answer.
  private static let patience = Duration.seconds(60)

  /// Creates a voice that has said nothing.
  /// - Parameter client: A client that is not connected.
  init(_ client: MosquittoClient) { self.client = client }

  /// Sends a message at QoS 1, and returns when the broker has it.
  /// - Parameter message: The message.
  /// - Throws: `DataClientError` when the broker does not take it; and `CancellationError`.
  func say(_ message: Message) async throws {
    if !state.withLock({ $0.isConnected }) {
      try await perform(.connect(ConnectOptions()), until: { _ in .connected(.init()) })
      state.withLock { $0.isConnected = true }
    }
    var message = message
    message.qos = .atLeastOnce
    if message.isRetained { state.withLock { _ = $0.retained.insert(message.topic) } }
    try await perform(.publish(message), until: ClientEvent.published)
  }

  /// Clears what the broker keeps of what was said, and disconnects.
  /// - Throws: `DataClientError` when the broker does not answer; and `CancellationError`.
  func leave() async throws {
    guard state.withLock({ $0.isConnected }) else { return }
    for topic in state.withLock({ $0.retained.sorted() }) {
      let empty = Message(topic: topic, payload: [], qos: .atLeastOnce, isRetained: true)
      try await perform(.publish(empty), until: ClientEvent.published)
    }
    state.withLock { $0 = State(lastID: $0.lastID) }
    try await perform(.disconnect, until: { _ in .closed(.byUser) })
  }

  /// Performs an action and waits for its answer.
  private func perform(
    _ kind: ClientAction.Kind, until answer: (ClientAction.ID) -> ClientEvent
  ) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return ClientAction.ID(rawValue: state.lastID)
    }
    try await client.perform(ClientAction(id, kind))
    let deadline = client.now.advanced(by: Self.patience)
    while true {
      let event = try await client.next(before: deadline)
      if event == answer(id) { return }
      if case .closed(let why) = event {
        state.withLock { $0.isConnected = false }
        throw DataClientError(.transport, "the broker does not take the cloud's message: \(why)")
      }
      guard event != .deadline else {
        throw DataClientError(
          .timedOut, "the broker did not answer the cloud within \(Self.patience)")
      }
    }
  }
}
