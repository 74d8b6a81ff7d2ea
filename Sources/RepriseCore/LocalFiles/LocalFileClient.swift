import Synchronization

/// A folder of hand-written answers as a world.
///
/// Unlike a ``ReplayClient`` it knows no order: what is asked for is answered, any number of times. Time
/// is virtual: it jumps to the next answer or to the deadline. All files are read and checked when the
/// client is made; an error names the file and the key.
///
/// ## Requests
///
/// The path of a request names a file in the folder: `suggestion/` is answered with the bytes of
/// `suggestion/response.json` or of `suggestion.json`. Where a body is not enough, `requests.json` says
/// more; of the answers that fit a request, the one that asks for most is given:
///
///     {"requests": [{"path": "suggestion/", "method": "GET", "parameters": {"region": "Nowhere"},
///                    "status": 404, "body": {"status": 1}, "after": 0.2}]}
///
/// `method` and `parameters` are what the request must have; `file` names a file in place of `body`;
/// `after` is a delay in seconds.
///
/// ## Messages
///
/// A SUBSCRIBE is granted and a CONNECT accepted, unless `topics.json` says otherwise. A PUBLISH needs
/// an entry there, be it one without answers:
///
///     {"connect": {"sessionPresent": true, "after": 0.05},
///      "subscribe": [{"filter": "secret/#", "refuse": true},
///                    {"filter": "state/+", "qos": 0,
///                     "messages": [{"topic": "state/a", "payload": {"on": 1}, "retain": true}]}],
///      "publish": [{"topic": "/sys/+/+/app/up/account/bind",
///                   "answers": [{"topic": "/sys/{{topic.3}}/{{topic.4}}/app/down/account/bind_reply",
///                                "payload": {"id": "{{id}}", "code": 200}, "qos": 1, "after": 0.1}]}]}
///
/// `connect` may have `refuse`, the code of a CONNACK; an entry of `publish` may have `refuse` in place of
/// `answers`, the reason code (128 to 255) by which a server of MQTT 5.0 refuses messages above QoS 0.
///
/// A `payload` is sent as JSON, a string as it is; `base64` stands for other bytes. In topics and payloads
/// `{{id}}` is the member `id` of the published payload, `{{payload.a.b}}` any member, `{{topic}}` the
/// topic, `{{topic.3}}` its third level (of a topic that begins with a slash the first is empty) and
/// `{{now}}` the time in milliseconds; a string that is just one of these becomes the value itself, with
/// its type. Answers reach the user when they are subscribed to, as with a broker.
///
/// A request of MQTT 5.0 (section 4.10) is answered on `{{responseTopic}}`, with its correlation data:
///
///     {"publish": [{"topic": "lamp/get",
///                   "answers": [{"topic": "{{responseTopic}}", "payload": {"on": true}}]}]}
///
/// ## Messages without topics
///
/// As over a WebSocket: `frames.json` answers a text or binary message by the first entry that fits it, and
/// `greeting` is what the server says by itself when a connection is opened:
///
///     {"greeting": [{"payload": {"hello": 1}}],
///      "messages": [{"match": {"service": "test/analyze"},
///                    "answers": [{"payload": {"uniqueId": "{{payload.uniqueId}}",
///                                             "service": "{{payload.service}}",
///                                             "content": {"ret_code": "0000"}}, "after": 0.1}]},
///                   {"text": "ping", "answers": [{"payload": "pong"}]},
///                   {"match": {"service": "system/heart-beat"}, "answers": []}]}
///
/// `match` are members that the message's JSON must have, `text` is the message itself; an entry with neither
/// fits any. An answer is a text, or with `base64` a binary message.
///
/// What has no answer is not handed over: ``perform(_:)`` throws ``DataClientError/Code/noAnswer``. When
/// nothing is going to happen and there is no deadline, ``next(before:)`` waits for an action; this world
/// never ends. Only answers that were asked for are kept, so a slow user costs what it asks for.
public final class LocalFileClient: DataClient {
  private struct State {
    var machine: LocalFileMachine
    var changes: UInt64 = 0
    var reader: CheckedContinuation<Void, Never>?

    mutating func change() -> CheckedContinuation<Void, Never>? {
      changes &+= 1
      defer { reader = nil }
      return reader
    }
  }

  private let state: Mutex<State>

  /// What the folder has files for: messages without topics only with `frames.json`, and then those with
  /// topics only with `topics.json`; refusals only if there are any.
  public let capabilities: Capabilities

  /// The beginning of the year 2026, where time starts unless it is said otherwise.
  public static let defaultStart = Timestamp(nanoseconds: 1_767_225_600_000_000_000)

  /// Reads a folder of answers.
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - start: The time at which this world begins.
  /// - Throws: ``DataClientError/Code/unreadable`` with the file and the key.
  public convenience init(
    folder: String, start: Timestamp = LocalFileClient.defaultStart
  ) throws(DataClientError) {
    self.init(try AnswerBook(folder: folder), start: start)
  }

  /// Takes answers from memory.
  /// - Parameters:
  ///   - files: The bytes of the files, by their paths in the folder.
  ///   - start: The time at which this world begins.
  /// - Throws: ``DataClientError/Code/unreadable`` with the file and the key.
  public convenience init(
    files: [String: [UInt8]], start: Timestamp = LocalFileClient.defaultStart
  ) throws(DataClientError) {
    self.init(try AnswerBook(files: files), start: start)
  }

  private init(_ book: AnswerBook, start: Timestamp) {
    state = Mutex(State(machine: LocalFileMachine(book, start: start)))
    capabilities = book.capabilities
  }

  /// The time of this world.
  public var now: Timestamp { state.withLock { $0.machine.now } }

  /// Performs an action, if the folder has an answer to it.
  /// - Parameter action: What to do.
  /// - Throws: ``DataClientError``, ``DataClientError/Code/noAnswer`` when there is no answer.
  public func perform(_ action: ClientAction) async throws {
    let (result, reader) = state.withLock { state in
      let result = Result { () throws(DataClientError) in try state.machine.perform(action) }
      return (result, state.change())
    }
    reader?.resume()
    try result.get()
  }

  /// Returns the next answer, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    while true {
      try Task.checkCancellation()
      let (event, change) = state.withLock { state in
        (state.machine.next(before: deadline), state.changes)
      }
      guard let event else {
        await wait(since: change)
        continue
      }
      // Time flies here: without this, a chain of timers would leave no time to anybody else.
      if event == .deadline { await Task.yield() }
      return event
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return ``ClientEvent/woken``.
  public func wake() {
    let reader = state.withLock { state in
      state.machine.wake()
      return state.change()
    }
    reader?.resume()
  }

  /// Suspends the reader until something changes or it is cancelled.
  private func wait(since change: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Cancellation before this point is seen here, and after it by the handler.
        let (isOver, earlier) = state.withLock { state in
          guard state.changes == change, !Task.isCancelled else {
            return (true, CheckedContinuation<Void, Never>?.none)
          }
          defer { state.reader = continuation }
          return (false, state.reader)
        }
        earlier?.resume()
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.change() }?.resume()
    }
  }
}
