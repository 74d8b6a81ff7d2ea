import RepriseCore

/// What `reprise record client` is asked for, apart from the broker.
struct RecordSettings {
  private static let topic = OptionSpec(
    name: "topic", letter: "t", value: "FILTER", repeats: true,
    help: "Records the messages whose topics match; may be repeated. Needed for MQTT.")
  private static let share = OptionSpec(
    name: "share", value: "GROUP",
    help: "Shares the messages with all that name the same GROUP: each gets some of them.")
  private static let qos = OptionSpec(
    name: "qos", value: "QOS", choices: ["0", "1", "2"],
    help: "The highest QoS to ask for; 1 if nothing is said, 2 gets all as it was sent.")
  static let output = OptionSpec(
    name: "output", letter: "o", value: "FILE", isFile: true,
    help: "The recording to write; - is standard output. Needed.")
  static let duration = OptionSpec(
    name: "duration", value: "TIME", help: "Ends after a time: 90s, 10m, 1h30m, 2d.")
  private static let count = OptionSpec(
    name: "count", value: "N", help: "Ends after N messages.")
  static let maximumSize = OptionSpec(
    name: "max-size", value: "SIZE",
    help: "Ends before FILE is larger: 4096 bytes or more, 64K, 50M, 2G (of 1,024).")
  static let rotation = OptionSpec(
    name: "rotate", help: "Goes on in another file instead, at --max-size or every --interval.")
  static let interval = OptionSpec(
    name: "interval", value: "TIME", help: "With --rotate, how often another file is begun.")
  private static let redact = OptionSpec(
    name: "redact", value: "RULE", repeats: true,
    help: "Hides what must not be recorded; see below.")
  private static let secrets = OptionSpec(
    name: "show-secrets", help: "Records passwords, tokens and signatures instead of ***.")
  private static let noReconnect = OptionSpec(
    name: "no-reconnect", help: "Ends when the connection is lost, with status 2.")
  static let force = OptionSpec(
    name: "force", help: "Replaces FILE if it exists.")

  /// The options, in the order of the help.
  static let options = [
    topic, share, qos, output, duration, count, maximumSize, rotation, interval, redact, secrets,
    noReconnect, force,
  ]

  /// The least size of a file: a header and some events have room in it.
  private static let leastSize = 4_096

  /// Where the recording goes.
  let path: String
  /// Whether a file that exists is replaced.
  let replaces: Bool
  /// Whether there is one file after the other.
  let rotates: Bool
  /// How large a file may be.
  let limit: Int?
  /// How long is recorded.
  let duration: Duration?
  /// What is not recorded.
  let redaction: RedactionRules
  /// Whether there are no topics: all messages of a WebSocket are recorded.
  var recordsFrames: Bool { subscriptions.isEmpty }
  private let subscriptions: [Subscription]
  private let count: Int?
  private let interval: Duration?
  private let reconnects: Bool

  /// Reads the options.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - isWebSocket: Whether the URL is one of WebSocket, whose messages need no topics.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments, isWebSocket: Bool = false) throws(UsageError) {
    subscriptions = try Self.subscriptions(arguments, areNeeded: !isWebSocket)
    guard let path = arguments.value(Self.output) else {
      throw UsageError("record client needs a file to write", "add -o FILE.jsonl")
    }
    for ending in [".pcap", ".pcapng"] where path.hasSuffix(ending) {
      throw UsageError(
        "a client sees no frames, so there is nothing to write to a \(ending) file",
        "name a recording: -o FILE.jsonl")
    }
    self.path = path
    replaces = arguments.has(Self.force)
    reconnects = !arguments.has(Self.noReconnect)
    rotates = arguments.has(Self.rotation)
    count = try arguments.count(Self.count)
    duration = try arguments.duration(Self.duration)
    interval = try arguments.duration(Self.interval)
    limit = try Self.limit(arguments)
    redaction = try RedactionRules(arguments, hidesSecrets: !arguments.has(Self.secrets))
    try Self.checkRotation(arguments, ending: ".jsonl")
    try checkFrames(arguments)
  }

  private func checkFrames(_ arguments: Arguments) throws(UsageError) {
    guard recordsFrames else { return }
    guard !arguments.has(Self.qos) else {
      throw UsageError("--qos is for MQTT, and without topics there is none", "add --topic FILTER")
    }
    let rules = [
      ("topic:FILTER", !redaction.topics.isEmpty), ("username", redaction.hidesUsernames),
      ("correlation", redaction.hidesCorrelationData),
    ]
    for (rule, isGiven) in rules where isGiven {
      throw UsageError(
        "--redact \(rule) is for MQTT, and without topics there is none",
        "type key:NAME, or add --topic FILTER")
    }
    try BrokerOptions.checkIsWithoutMQTT(arguments)
  }

  /// What a recorder is to do.
  func plan(_ options: ConnectOptions) -> RecorderPlan {
    RecorderPlan(
      options: options, subscriptions: subscriptions, duration: duration, messageCount: count,
      fileInterval: interval, reconnects: reconnects)
  }

  /// A client identifier that nobody else has.
  static func makeClientID() -> String {
    "reprise-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
  }

  /// Checks that files can be rotated as is asked for.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - ending: What the name of a file ends with.
  /// - Throws: ``UsageError``.
  static func checkRotation(_ arguments: Arguments, ending: String) throws(UsageError) {
    guard arguments.has(rotation) else {
      guard !arguments.has(interval) else {
        throw UsageError("--interval is for --rotate", "add --rotate")
      }
      return
    }
    guard arguments.has(maximumSize) || arguments.has(interval) else {
      throw UsageError(
        "--rotate needs to know when", "add --max-size SIZE or --interval TIME")
    }
    guard arguments.value(output) != "-" else {
      throw UsageError("standard output can't be rotated", "name a file: -o FILE\(ending)")
    }
  }

  private static func subscriptions(
    _ arguments: Arguments, areNeeded: Bool
  ) throws(UsageError) -> [Subscription] {
    let qos = arguments.value(qos).flatMap { UInt8($0) }.flatMap(QoS.init) ?? .atLeastOnce
    var subscriptions: [Subscription] = []
    let group = try group(arguments)
    for filter in arguments.list(topic) {
      var subscription = Subscription(filter, qos: qos)
      try check(subscription, "--topic")
      if let group {
        guard !filter.hasPrefix("$share/") else {
          throw UsageError(
            "--topic '\(filter)' names a group by itself", "leave its $share away, or --share")
        }
        subscription.filter = "$share/\(group)/\(filter)"
      }
      if !subscriptions.contains(subscription) { subscriptions.append(subscription) }
    }
    guard !areNeeded || !subscriptions.isEmpty else {
      throw UsageError("record client needs topics", "add --topic FILTER; --topic '#' is all")
    }
    return subscriptions
  }

  /// The group that shares a stream (MQTT 5.0 section 4.8.2: no `/`, no wildcard).
  private static func group(_ arguments: Arguments) throws(UsageError) -> String? {
    guard let group = arguments.value(share) else { return nil }
    guard !group.isEmpty, !group.contains(where: { "/+#".contains($0) }),
      Subscription("$share/\(group)/#").isWellFormed
    else {
      throw UsageError("--share can't be '\(group)'", "type a name without /, + and #")
    }
    guard !arguments.list(topic).isEmpty else {
      throw UsageError("--share is for topics, and there is none", "add --topic FILTER")
    }
    return group
  }

  private static func check(
    _ subscription: Subscription, _ option: String
  ) throws(UsageError) {
    guard !subscription.isWellFormed else { return }
    throw UsageError(
      "\(option): '\(subscription.filter)' is no topic filter",
      "+ stands for a whole level, # for all levels at the end: plant/+/alarm, plant/#")
  }

  /// Reads how large a file may be.
  /// - Throws: ``UsageError``.
  static func limit(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let size = try arguments.size(maximumSize) else { return nil }
    guard size >= leastSize else {
      throw UsageError(
        "--max-size \(size) is too small for a recording", "type \(leastSize) or more")
    }
    return size
  }
}
