import Synchronization

/// Records what a client does and gets, so that a ``ReplayClient`` can be that world again.
///
/// Every action that was handed over and every event becomes the packets that it stands for, each a
/// line that is complete on the disk before the user gets the event. Killed at any moment, the
/// recording is readable to its last event. What must not be told is hidden before it is written.
///
/// Requests can't be recorded, as they are no packets: the client says so by its capabilities. The
/// order of a message and of the `published` of QoS 0 is not recorded either: in the replay a message
/// of QoS 0 is published where it was sent.
///
/// When the recording can't be written, ``perform(_:)`` and ``next(before:)`` throw
/// ``DataClientError/Code/notRecorded`` from then on: a run that is to be recorded does not go on
/// unrecorded.
public final class RecordingClient<Client: DataClient, Sink: ByteSink & Sendable>: DataClient {
  private struct State {
    var writer: RecordingWriter<Sink>
    var transcript: ClientTranscript
    var failure: DataClientError?
    /// Whether somebody performs or records; the others wait in a row.
    var isBusy = false
    var row: [CheckedContinuation<Void, Never>] = []

    mutating func write(_ events: [Event]) throws(DataClientError) {
      if let failure { throw failure }
      do {
        for event in events { try event.withView { view throws in try writer.consume(view) } }
      } catch {
        let failure = DataClientError(
          .notRecorded,
          "the recording can't be written: \(error); it is complete up to the last event before")
        self.failure = failure
        throw failure
      }
    }
  }

  private let client: Client
  private let state: Mutex<State>

  /// Wraps a client, and writes the recording's header.
  /// - Parameters:
  ///   - client: The client to record.
  ///   - sink: Where the recording goes.
  ///   - url: What the client talks to, for the header.
  ///   - redaction: What is not written.
  /// - Throws: What the sink throws.
  public init(
    _ client: Client, to sink: Sink, url: String? = nil,
    redaction: RedactionRules = RedactionRules()
  ) throws {
    self.client = client
    let details = url.map { [JSONMember("url", .string($0))] } ?? []
    let header = RecordingHeader(
      created: client.now, source: .init(kind: "client", details: details),
      redacted: redaction.names)
    let transcript = ClientTranscript(client: "client", server: url ?? "server", redaction)
    let writer = try RecordingWriter(
      sink, header: header, showsSecrets: !redaction.hidesSecrets, flushesEveryLine: true)
    state = Mutex(State(writer: writer, transcript: transcript))
  }

  /// Those of the client, but for requests.
  public var capabilities: Capabilities { client.capabilities.subtracting(.requests) }

  /// The time of the client.
  public var now: Timestamp { client.now }

  /// What the recording goes to.
  public var sink: Sink { state.withLock { $0.writer.sink } }

  /// Performs an action and records it when it was handed over.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws, and ``DataClientError/Code/notRecorded``.
  public func perform(_ action: ClientAction) async throws {
    if case .send = action.kind {
      throw DataClientError(
        .unsupported, "requests can't be recorded; send them through a client that is not recorded")
    }
    await enter()
    defer { leave() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    try await client.perform(action)
    try record { $0.take(action, at: $1) }
  }

  /// Returns the client's next event when it is recorded.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws, and ``DataClientError/Code/notRecorded``.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let event = try await client.next(before: deadline)
    // An answer never stands before the action that is being performed.
    await enter()
    defer { leave() }
    try record { $0.take(event, at: $1) }
    return event
  }

  /// Wakes the client.
  public func wake() { client.wake() }

  /// Ends the recording; a connection that is open is recorded as one that went on.
  /// - Throws: ``DataClientError/Code/notRecorded``.
  public func finish() throws(DataClientError) {
    try record { $0.finish(at: $1) }
  }

  private func record(
    _ take: (inout ClientTranscript, Timestamp) -> [Event]
  ) throws(DataClientError) {
    let time = client.now
    let failure: DataClientError? = state.withLock { state in
      let events = take(&state.transcript, time)
      do throws(DataClientError) { try state.write(events) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  // MARK: One at a time

  /// Waits until nobody else performs or records.
  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isBusy else {
          state.isBusy = true
          return true
        }
        state.row.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.row.isEmpty else {
        state.isBusy = false
        return nil
      }
      return state.row.removeFirst()
    }
    next?.resume()
  }
}
