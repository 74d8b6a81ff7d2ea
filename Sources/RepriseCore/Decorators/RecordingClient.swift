import Synchronization
public import Wire

/// Records what a client does and gets, so that a ``ReplayClient`` can be that world again.
///
/// Every action that was handed over and every event becomes the packets that it stands for, each a
/// line that is complete on the disk before the user gets the event. A connection begins in the recording when
/// its outcome is known; one that never came to be is an attempt (``ConnectionAttempt``), of which no packet is
/// told. Killed at any moment, the recording is readable to its last event. What must not be told is hidden before
/// it is written.
///
/// In packets of MQTT 5.0 a message that the server refused is recorded with the server's reason code; 3.1.1
/// has none.
///
/// A client of messages without topics is recorded in frames of WebSocket: one that is whole and plain for
/// each message, a Close frame of both sides where the user disconnects, and a handshake with the fields
/// that it needs. Keys and masks are made for the recording, as the client does not tell those on the wire; nor
/// does it tell of PING and PONG.
///
/// A client of requests alone is recorded in messages of HTTP, with the headers that they need and the number of the
/// exchange; a request that got no answer has a line that says so. A client that has topics or frames besides has no
/// requests while it is recorded, as it says by its capabilities: its session is that of a connection.
///
/// The order of a message and of the `published` of QoS 0 is not recorded: in the replay a message
/// of QoS 0 is published where it was sent.
///
/// When the recording can't be written, ``perform(_:)`` and ``next(before:)`` throw
/// ``DataClientError/Code/notRecorded`` from then on: a run that is to be recorded does not go on
/// unrecorded.
///
/// A recording with a size never becomes larger. The event that finds no room is the first one of the
/// next file, if there is one; otherwise it is not handed out, and from then on
/// ``DataClientError/Code/recordingFull`` is thrown.
public final class RecordingClient<Client: DataClient, Sink: ByteSink & Sendable>: DataClient {
  private struct State {
    var lines: RecordingLines<Sink>
    var transcript: any Transcript
    var failure: DataClientError?
  }

  private let client: Client
  private let state: Mutex<State>
  /// A task that performs or records is alone.
  private let turnstile = Turnstile()
  /// What can't be recorded here: a session has either topics, or frames, or requests.
  private let lacking: Capabilities

  /// Wraps a client, and writes the recording's header.
  /// - Parameters:
  ///   - client: The client to record.
  ///   - sink: Where the recording goes.
  ///   - url: What the client talks to, for the header; without a password.
  ///   - version: The version of MQTT that the client speaks; nil tells it from what the client can do.
  ///   - redaction: What is not written.
  ///   - limit: How many bytes a file may have, if there is a limit; an event that is larger alone gets
  ///     a file of its own.
  ///   - nextSink: Where the recording goes on when the sink that it is given is complete.
  /// - Throws: What the sink throws.
  public init(
    _ client: Client, to sink: Sink, url: String? = nil, version: MQTTVersion? = nil,
    redaction: RedactionRules = RedactionRules(), limit: Int? = nil,
    nextSink: (@Sendable (Sink) throws -> Sink)? = nil
  ) throws {
    self.client = client
    let url = url.map(redaction.shown(url:))
    let details = url.map { [JSONMember("url", .string($0))] } ?? []
    let header = RecordingHeader(
      created: client.now, source: .init(kind: "client", details: details),
      redacted: redaction.ruleNames)
    let transcript = client.transcript(to: url ?? "server", speaking: version)
    lacking =
      switch transcript {
      case is FrameTranscript: [.requests, .messages]
      case is RequestTranscript: [.messages, .frames]
      default: [.requests, .frames]
      }
    let lines = try RecordingLines(
      sink, header, hiding: redaction, limit: limit, nextSink: nextSink)
    state = Mutex(State(lines: lines, transcript: transcript))
  }

  /// Those of the client, but for what the recording has no place for.
  public var capabilities: Capabilities { client.capabilities.subtracting(lacking) }

  /// The time of the client.
  public var now: Timestamp { client.now }

  /// What the recording goes to.
  public var sink: Sink { state.withLock { $0.lines.sink } }

  /// Performs an action and records it when it was handed over.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws, and ``DataClientError/Code/notRecorded``.
  public func perform(_ action: ClientAction) async throws {
    guard lacking.isDisjoint(with: action.kind.needs) else {
      throw DataClientError(
        .unsupported,
        "\(action.kind.name) can't be recorded; send it through a client that is not recorded")
    }
    await turnstile.enter()
    defer { turnstile.leave() }
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
    await turnstile.enter()
    defer { turnstile.leave() }
    try record { $0.take(event, at: $1) }
    return event
  }

  /// Wakes the client.
  public func wake() { client.wake() }

  /// Records an event that was read from the client itself, past this recorder.
  /// - Parameter event: The event.
  /// - Throws: ``DataClientError/Code/notRecorded``.
  public func note(_ event: ClientEvent) throws(DataClientError) {
    try record { $0.take(event, at: $1) }
  }

  /// Lets the recording go on in the next file, if it has a way to get one.
  /// - Throws: ``DataClientError/Code/notRecorded``.
  public func startNextFile() throws(DataClientError) {
    let time = client.now
    try change { try $0.lines.startNextFile(&$0.transcript, at: time) }
  }

  /// Ends the recording; a connection that is open is recorded as one that went on.
  /// - Throws: ``DataClientError/Code/notRecorded``.
  public func finish() throws(DataClientError) {
    let time = client.now
    if let failure = state.withLock({ $0.failure }), failure.code != .recordingFull {
      throw failure
    }
    state.withLock { $0.failure = nil }
    try change { try $0.lines.writeEnd($0.transcript.finish(at: time)) }
  }

  private func record(
    _ take: (inout any Transcript, Timestamp) -> [Event]
  ) throws(DataClientError) {
    let time = client.now
    try change { state in
      try state.lines.add(&state.transcript, at: time) { take(&$0, time) }
    }
  }

  /// Writes something, and remembers when that fails.
  private func change(_ body: (inout State) throws -> Void) throws(DataClientError) {
    let failure = state.withLock { state -> DataClientError? in
      if let failure = state.failure { return failure }
      do {
        try body(&state)
      } catch let error as DataClientError where error.code == .recordingFull {
        state.failure = error
      } catch {
        state.failure = DataClientError(
          .notRecorded,
          "the recording can't be written: \(error); it is complete up to the last event before")
      }
      return state.failure
    }
    if let failure { throw failure }
  }
}

extension RecordingClient: HeardTime {
  package var heard: Timestamp { client.lastHeard }
}
