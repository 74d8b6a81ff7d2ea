import Synchronization
public import Wire

/// Tells what a client does and gets as the events that a recording of it would have.
///
/// For programs that show a dialogue while it goes on. A program that performs actions and reads
/// events in different tasks may be told an answer before its question.
public final class TranscribingClient<Client: DataClient>: DataClient {
  private let client: Client
  private let tell: @Sendable (Event) throws -> Void
  private let transcript: Mutex<any Transcript>

  /// Wraps a client.
  /// - Parameters:
  ///   - client: The client to tell of.
  ///   - url: What the client talks to, without a password.
  ///   - version: The version of MQTT that the client speaks; nil tells it from what the client can do.
  ///   - tell: What is told; what it throws goes to whoever performs or reads.
  public init(
    _ client: Client, url: String, version: MQTTVersion? = nil,
    tell: @escaping @Sendable (Event) throws -> Void
  ) {
    self.client = client
    self.tell = tell
    transcript = Mutex(
      client.transcript(to: url, speaking: version))
  }

  /// Those of the client.
  public var capabilities: Capabilities { client.capabilities }

  /// The time of the client.
  public var now: Timestamp { client.now }

  /// Performs an action and tells of it when it was handed over.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws, and what telling throws.
  public func perform(_ action: ClientAction) async throws {
    try await client.perform(action)
    let time = client.now
    for event in transcript.withLock({ $0.take(action, at: time) }) { try tell(event) }
  }

  /// Returns the client's next event when it is told.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws, and what telling throws.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = try await client.next(before: deadline)
    let time = client.now
    for event in transcript.withLock({ $0.take(event, at: time) }) { try tell(event) }
    return event
  }

  /// Wakes the client.
  public func wake() { client.wake() }
}

extension TranscribingClient: HeardTime {
  package var heard: Timestamp { client.lastHeard }
}
