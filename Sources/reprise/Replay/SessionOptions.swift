import RepriseCore
import SessionReplay

/// What `replay serve` and `replay drive` take besides where the other end is.
struct SessionOptions {
  static let connection = OptionSpec(
    name: "connection", value: "N", isList: true,
    help: "Replays connection N alone, by the number that inspect shows; 2,5 are two.")
  static let clientID = OptionSpec(
    name: "client-id", value: "NAME",
    help: "Replays the connections of the client of this identifier alone.")
  static let from = OptionSpec(
    name: "from", value: "TIME",
    help: """
      Begins there: 2026-11-21T07:39:01Z, 07:39:01 (UTC), or +2s from the file's start; before \
      it connections open and subscribe, in no time.
      """)
  static let to = OptionSpec(
    name: "to", value: "TIME", help: "Ends there; written as the time of --from.")
  static let speed = OptionSpec(
    name: "speed", value: "X",
    help: "How many times as fast as recorded, such as 10 or 0.5: 1 (default); max does not wait.")
  static let match = OptionSpec(
    name: "match", value: "HOW", choices: ReplayMatch.allCases.map(\.rawValue),
    help: """
      How exactly the other end has to send what was recorded: json (default) compares payloads \
      as JSON but for ids, times and signatures; topic compares kinds and topics only, of HTTP \
      methods, paths and statuses; strict compares all but packet identifiers.
      """)
  static let timeout = OptionSpec(
    name: "timeout", value: "TIME",
    help: "How much later than recorded the other end may send something: 10s (default).")
  static let loop = OptionSpec(
    name: "loop", help: "Begins anew at the end, until Ctrl-C or a divergence.")
  static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "jsonl"],
    help: "text (default): a line a packet for people; jsonl: a line of JSON for programs.")

  /// The options about the session.
  static let own = [connection, clientID, from, to, speed, match, timeout, loop]
  /// The options about what is read and written.
  static let files: [OptionSpec] = [
    format, .output, .showSecrets, .redact, .bpf, .decode, .keyLog, .serverKey, .preSharedKey,
    .memory,
  ]

  let selection: ScriptReader.Selection
  let window: ReplayWindow
  let settings: ReplaySettings
  let repeats: Bool

  /// Reads the options.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - file: The file of the session.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments, _ file: String) throws(UsageError) {
    selection = ScriptReader.Selection(
      numbers: try Self.numbers(arguments), clientID: arguments.value(Self.clientID))
    window = ReplayWindow(
      from: try Self.moment(Self.from, arguments), to: try Self.moment(Self.to, arguments))
    let options = ReplayOptions(
      match: arguments.value(Self.match).flatMap(ReplayMatch.init) ?? .json,
      source: ReplayInput.source(file, arguments))
    settings = ReplaySettings(
      options: options, speed: try Self.speed(Self.speed, arguments, usual: 1),
      patience: try arguments.duration(Self.timeout) ?? .seconds(10))
    repeats = arguments.has(Self.loop)
  }

  private static func numbers(_ arguments: Arguments) throws(UsageError) -> Set<Int> {
    var numbers: Set<Int> = []
    for text in arguments.list(connection) {
      guard let number = Int(text), number > 0 else {
        throw UsageError(
          "--connection can't be '\(text)'",
          "type the number of a connection, as reprise inspect shows it: --connection 4")
      }
      numbers.insert(number)
    }
    return numbers
  }

  /// Reads a moment of the session.
  /// - Parameters:
  ///   - option: The option that has it.
  ///   - arguments: What was typed.
  /// - Returns: The moment; nil without the option.
  /// - Throws: ``UsageError``.
  static func moment(
    _ option: OptionSpec, _ arguments: Arguments
  ) throws(UsageError) -> ReplayWindow.Moment? {
    guard let text = arguments.value(option) else { return nil }
    guard let moment = ReplayWindow.Moment(text) else {
      throw UsageError(
        "--\(option.name) can't be '\(text)'",
        "type a time: 2026-11-21T07:39:01Z, 07:39:01 (UTC), or +2s from the file's start")
    }
    return moment
  }

  /// Reads how fast a session is replayed.
  /// - Parameters:
  ///   - option: The option that says so.
  ///   - arguments: What was typed.
  ///   - usual: What it is without the option; nil does not wait.
  /// - Returns: How many times as fast as recorded; nil where it does not wait.
  /// - Throws: ``UsageError``.
  static func speed(
    _ option: OptionSpec, _ arguments: Arguments, usual: Double?
  ) throws(UsageError) -> Double? {
    guard let text = arguments.value(option) else { return usual }
    guard text != "max" else { return nil }
    guard let factor = Double(text), factor > 0, factor.isFinite else {
      throw UsageError(
        "--speed can't be '\(text)'", "type a number greater than 0, such as 2, or max")
    }
    guard ReplayPace.isPossible(factor) else {
      throw UsageError(
        "--speed can't be '\(text)'",
        "type a number from \(ReplayPace.slowestText) on, such as 2, or max")
    }
    return factor
  }
}
