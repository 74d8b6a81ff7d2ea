public import RepriseCore

/// How the cloud behaves where it does not behave well, and what it says without being asked.
///
/// An empty script is a cloud in good health: every token is good, every request is answered with
/// code 200 and its own parameters as data. As JSON, every key may be left out:
///
/// ```json
/// {
///   "tokens": { "stale": { "code": 2043, "message": "check iotToken failed" } },
///   "replies": [
///     { "topic": "/account/bind", "request": 1, "code": 2152 },
///     { "topic": "/light/get", "data": { "on": true }, "after": 2.5 },
///     { "topic": "/light/#", "request": [2, 3], "faults": ["duplicate", "numeric-id"] },
///     { "faults": ["no-reply"] }
///   ],
///   "pushes": [
///     { "properties": { "LightSwitch": 1 }, "after": 3, "every": 5, "times": 10 },
///     { "status": "offline", "on": "/light/set", "after": 1 },
///     { "event": { "identifier": "Error", "type": "alert", "value": { "Code": 7 } } },
///     { "binding": "Unbind", "device": "a1pk/lamp1" },
///     { "topic": "/thing/topo/add/status", "params": { "status": 0 }, "method": "thing.topo" },
///     { "topic": "/thing/model/down_raw", "payload": "any text", "qos": 0 }
///   ],
///   "refusedSubscriptions": ["/account/bind_reply"]
/// }
/// ```
///
/// What gateways are answered stands in ``GatewayScript``, and how links are served in ``LinkServiceRules``.
///
/// Topics are short (`/account/bind`) or full (`/sys/…`, `/ext/…`), and may have wildcards where they are
/// compared. Of the replies, the first that fits is taken; each counts the requests on its topic.
/// Times are in seconds. The names of faults are those of ``CloudFault``.
public struct CloudScript: Sendable, Hashable {
  /// Why a token is not good.
  public struct TokenRefusal: Sendable, Hashable {
    /// The code, a number or digits in a string.
    public var code: JSONValue
    /// The message; nil takes the code's own.
    public var message: String?

    /// Creates a refusal.
    /// - Parameters:
    ///   - code: The code.
    ///   - message: The message.
    public init(code: JSONValue, message: String? = nil) {
      self.code = code
      self.message = message
    }
  }

  /// How requests on a topic are answered; what is nil is as in a cloud in good health.
  public struct Reply: Sendable, Hashable {
    /// The topic filter, short or full.
    public var topic: String
    /// Which of the requests on the topic, from 1; none is all of them.
    public var requests: [Int]
    /// What goes wrong.
    public var faults: [CloudFault]
    /// How late the answer is.
    public var delay: Duration
    /// The code, a number or digits in a string.
    public var code: JSONValue?
    /// The message.
    public var message: String?
    /// The data.
    public var data: JSONValue?

    /// Creates a rule.
    /// - Parameters:
    ///   - topic: The topic filter, short or full.
    ///   - requests: Which of the requests on the topic, from 1; none is all of them.
    ///   - faults: What goes wrong.
    ///   - delay: How late the answer is.
    ///   - code: The code, a number or digits in a string.
    ///   - message: The message.
    ///   - data: The data.
    public init(
      topic: String = "/#", requests: [Int] = [], faults: [CloudFault] = [],
      delay: Duration = .zero, code: JSONValue? = nil, message: String? = nil,
      data: JSONValue? = nil
    ) {
      self.topic = topic
      self.requests = requests
      self.faults = faults
      self.delay = delay
      self.code = code
      self.message = message
      self.data = data
    }
  }

  /// When something is pushed.
  public struct ScheduledPush: Sendable, Hashable {
    /// What is pushed.
    public var push: CloudPush
    /// How long after its occasion.
    public var delay: Duration
    /// The time from one to the next; nil for a single one.
    public var interval: Duration?
    /// How many there are; nil is without end when there is an interval.
    public var count: Int?
    /// The topic filter, short or full, whose every request is the occasion; nil takes the device's
    /// first message.
    public var trigger: String?
    /// The device, whose occasion is the start of the simulator; nil is every device.
    public var device: CloudDevice?

    /// Creates a schedule.
    /// - Parameters:
    ///   - push: What is pushed.
    ///   - delay: How long after its occasion.
    ///   - interval: The time from one to the next, at least a millisecond.
    ///   - count: How many there are.
    ///   - trigger: The topic filter whose every request is the occasion.
    ///   - device: The device, whose occasion is the start of the simulator.
    public init(
      _ push: CloudPush, delay: Duration = .zero, interval: Duration? = nil, count: Int? = nil,
      trigger: String? = nil, device: CloudDevice? = nil
    ) {
      self.push = push
      self.delay = delay
      self.interval = interval.map { max($0, .milliseconds(1)) }
      self.count = count
      self.trigger = trigger
      self.device = device
    }
  }

  /// The tokens that are not good.
  public var tokens: [String: TokenRefusal]
  /// How requests are answered.
  public var replies: [Reply]
  /// What is pushed.
  public var pushes: [ScheduledPush]
  /// Topic filters, short or full: subscriptions to them are refused; in process only.
  public var refusedSubscriptions: [String]
  /// What is known of gateways and sub-devices; nil does not answer gateways.
  public var gateway: GatewayScript?
  /// How links are served; nil does not answer links.
  public var links: LinkServiceRules?
  /// What nobody asked for in so many words: a broker may refuse its topics, and then it is not served.
  private(set) var optionalParts: Set<Part> = []

  /// What a cloud serves besides apps.
  enum Part: Sendable, Hashable {
    case gateways
    case links
  }

  /// Creates a script.
  /// - Parameters:
  ///   - tokens: The tokens that are not good.
  ///   - replies: How requests are answered.
  ///   - pushes: What is pushed.
  ///   - refusedSubscriptions: Filters whose subscriptions are refused.
  ///   - gateway: What is known of gateways and sub-devices.
  ///   - links: How links are served.
  public init(
    tokens: [String: TokenRefusal] = [:], replies: [Reply] = [], pushes: [ScheduledPush] = [],
    refusedSubscriptions: [String] = [], gateway: GatewayScript? = nil,
    links: LinkServiceRules? = nil
  ) {
    self.tokens = tokens
    self.replies = replies
    self.pushes = pushes
    self.refusedSubscriptions = refusedSubscriptions
    self.gateway = gateway
    self.links = links
  }

  /// Serves gateways and links too, in good health where the script says nothing of them, and as far as the broker grants
  /// their topics.
  public mutating func serveEverything() {
    if gateway == nil {
      gateway = GatewayScript()
      optionalParts.insert(.gateways)
    }
    if links == nil {
      links = LinkServiceRules()
      optionalParts.insert(.links)
    }
  }

  /// The first key that only ``InProcessBroker`` can obey; nil when a real broker will do.
  var firstInProcessKey: String? {
    if let index = replies.firstIndex(where: { $0.faults.contains(.dropConnection) }) {
      return "replies[\(index)].faults"
    }
    return refusedSubscriptions.isEmpty ? nil : "refusedSubscriptions"
  }
}
