public import RepriseCore

/// How a server of requests behaves where it does not behave well, and what it says without being asked.
///
/// An empty script is a server in good health: it answers every request with its own parameters as
/// content, and leaves heartbeats unanswered. As JSON, every key may be left out:
///
/// ```json
/// {
///   "answers": [
///     { "service": "nlu/analyze", "content": { "ret_code": "0000" }, "after": 2.5 },
///     { "service": "nlu/*", "request": [2, 3], "faults": ["duplicate"] },
///     { "service": "pay", "error": { "code": 2, "desc": "busy" } },
///     { "faults": ["no-answer"] }
///   ],
///   "pushes": [
///     { "json": { "service": "news" }, "after": 3, "every": 5, "times": 10 },
///     { "text": "hello", "on": "nlu/analyze", "after": 1 },
///     { "bytes": [1, 2, 3] }
///   ],
///   "login": "session/login",
///   "answersHeartbeats": true,
///   "envelope": { "id": "uniqueId", "service": "service", "heartbeat": "system/heart-beat" }
/// }
/// ```
///
/// A service is its path, or the beginning of some with `*` behind it. Of the answers, the first that fits is
/// taken; each counts the requests of its services on all connections. Pushes come so long after the
/// connection opened, or after each request of the service that `on` names. With `login`, other
/// services are answered with code 4 until that service was, on the same connection. Times are in seconds; the
/// names of faults are those of ``RequestFault``. The envelope tells what an application calls the parts of its
/// messages: `id`, `service`, `method`, `product`, `content`, `error`, `errorCode` and `errorMessage` are keys,
/// `heartbeat` is a service, and `contentAsText` false has content written as JSON; errors and pushes of a script go out
/// as they stand in it.
public struct RequestScript: Sendable, Hashable {
  /// How requests of a service are answered; what is nil is as in good health.
  public struct Answer: Sendable, Hashable {
    /// The service, or the beginning of some with `*` behind it.
    public var service: String
    /// Which of the requests, from 1; none is all of them.
    public var requests: [Int]
    /// What goes wrong.
    public var faults: [RequestFault]
    /// How late the answer is.
    public var delay: Duration
    /// The error as it goes out: an object with `code` and `desc`, or what the envelope calls them.
    public var error: JSONValue?
    /// The content.
    public var content: JSONValue?

    /// Creates a rule.
    /// - Parameters:
    ///   - service: The service, or the beginning of some with `*` behind it.
    ///   - requests: Which of the requests, from 1; none is all of them.
    ///   - faults: What goes wrong.
    ///   - delay: How late the answer is.
    ///   - error: The error as it goes out: an object with `code` and `desc`, or what the envelope calls them.
    ///   - content: The content.
    public init(
      service: String = "*", requests: [Int] = [], faults: [RequestFault] = [],
      delay: Duration = .zero, error: JSONValue? = nil, content: JSONValue? = nil
    ) {
      self.service = service
      self.requests = requests
      self.faults = faults
      self.delay = delay
      self.error = error
      self.content = content
    }
  }

  /// What the server says on its own.
  public enum Push: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
  }

  /// When something is pushed.
  public struct ScheduledPush: Sendable, Hashable {
    /// What is pushed.
    public var push: Push
    /// How long after its occasion.
    public var delay: Duration
    /// The time from one to the next, at least a millisecond; nil for a single one.
    public var interval: Duration?
    /// How many there are; nil is without end when there is an interval.
    public var count: Int?
    /// The service whose every request is the occasion; nil is the opening of a connection.
    public var trigger: String?

    /// Creates a schedule.
    /// - Parameters:
    ///   - push: What is pushed.
    ///   - delay: How long after its occasion.
    ///   - interval: The time from one to the next, at least a millisecond.
    ///   - count: How many there are.
    ///   - trigger: The service whose every request is the occasion.
    public init(
      _ push: Push, delay: Duration = .zero, interval: Duration? = nil, count: Int? = nil,
      trigger: String? = nil
    ) {
      self.push = push
      self.delay = delay
      self.interval = interval.map { max($0, .milliseconds(1)) }
      self.count = count
      self.trigger = trigger
    }
  }

  /// How requests are answered.
  public var answers: [Answer]
  /// What is pushed.
  public var pushes: [ScheduledPush]
  /// The service that logs in; nil asks for no login.
  public var login: String?
  /// Whether heartbeats are answered.
  public var answersHeartbeats: Bool
  /// What the parts of messages are called: `format.envelope` of the application's `JSONRequestFormat`.
  public var envelope: RequestEnvelope

  /// Creates a script.
  /// - Parameters:
  ///   - answers: How requests are answered.
  ///   - pushes: What is pushed.
  ///   - login: The service that logs in; nil asks for no login.
  ///   - answersHeartbeats: Whether heartbeats are answered.
  ///   - envelope: What the parts of messages are called.
  public init(
    answers: [Answer] = [], pushes: [ScheduledPush] = [], login: String? = nil,
    answersHeartbeats: Bool = false, envelope: RequestEnvelope = RequestEnvelope()
  ) {
    self.answers = answers
    self.pushes = pushes
    self.login = login
    self.answersHeartbeats = answersHeartbeats
    self.envelope = envelope
  }

  /// Whether a service is one of those that a pattern means.
  static func matches(_ pattern: String, _ service: String) -> Bool {
    guard pattern.hasSuffix("*") else { return pattern == service }
    return service.hasPrefix(pattern.dropLast())
  }
}
