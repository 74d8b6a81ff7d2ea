import RepriseCore

/// `reprise replay sdk`: runs the SDK on a recorded session and prints what it saw.
enum ReplaySDKCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "jsonl"],
    help: "text (default): a line for people; jsonl: a line of JSON for programs.")
  private static let connection = OptionSpec(
    name: "connection", value: "N",
    help: "Replays connection N alone, by the number that inspect shows.")
  private static let clientID = OptionSpec(
    name: "client-id", value: "NAME",
    help: "Replays the client of this client identifier or user name, with all connections.")
  private static let from = OptionSpec(
    name: "from", value: "TIME",
    help: "Begins there: 2026-11-21T07:39:01Z, 07:39:01 (UTC), or +2s from the file's start.")
  private static let to = OptionSpec(
    name: "to", value: "TIME", help: "Ends there; written as the time of --from.")
  private static let speed = OptionSpec(
    name: "speed", value: "X",
    help: "How many times as fast as recorded (default 1), such as 10 or 0.5; max does not wait.")
  private static let match = OptionSpec(
    name: "match", value: "HOW", choices: ReplayMatch.allCases.map(\.rawValue),
    help: "How exactly the SDK has to send what was recorded: json (default) compares payloads as "
      + "JSON but for ids, times and signatures; topic compares kinds and topics only; strict "
      + "compares every byte.")
  private static let order = OptionSpec(
    name: "order", value: "HOW", choices: ReplayOrder.allCases.map(\.rawValue),
    help:
      "In which order the SDK has to send it: causal (default) lets what nothing inbound separates "
      + "come in any order; recorded keeps the order of the session.")

  /// The options of the command.
  static let options: [OptionSpec] = [
    format, connection, clientID, from, to, speed, match, order, .envelope, .output, .showSecrets,
    .redact, .bpf, .decode, .keyLog, .serverKey, .preSharedKey, .memory,
  ]

  static let spec = CommandSpec(
    name: "replay sdk", summary: "Runs the SDK on a recorded session and prints what it saw.",
    operands: "FILE", operandCount: 1...1, options: options,
    missing: ["loop": "the SDK is run once; replay serve and replay drive take --loop"],
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl), or a
      folder with one; - is standard input. The session is an app's, a gateway's, a link's, or
      that of a WebSocket with requests, which shows in what the client sends. The SDK runs in
      the session's own time, and the app's calls are told from what its client sent. A stream
      channel's link is a client of its own. A gateway that rides on its app's connection is
      replayed together with the app's channel: lines then name the one that they are of.

      Requests have the keys of the SDK's own format, unless --envelope tells others: in a
      JSON file that may as well be the script of reprise simulate for the same app.

      A line has the time (UTC), the frame (in a recording, the line) and the connection
      that it comes from, - if only from time going by; → is what the app calls, ← what the
      SDK tells it, · what it tells nobody; ! marks an error.

      Where the SDK does not do what was recorded the replay ends with status 1, and shows
      the place, what was expected, what the SDK did, and what to type next.

      Examples:
        reprise replay sdk session.jsonl
        reprise replay sdk customer.pcap --client-id 'dev1&a1pk' --from 07:39
        reprise replay sdk frames.jsonl --envelope server.json
        reprise replay sdk --format jsonl capture.pcap | grep '"type":"message"'
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let file = try SessionFolder.session(arguments.operand)
    let showsSecrets = arguments.has(.showSecrets)
    let redaction = try RedactionRules(arguments, hidesSecrets: !showsSecrets)
    let options = try replayOptions(arguments, file)
    let input = try ReplayInput(
      file: file, selection: try selection(arguments), window: try window(arguments),
      arguments: arguments, console: console)
    let output = try OutputFile(
      arguments.value(.output), inputs: [file], isPrivate: showsSecrets)
    guard let replay = input.prepare(options) else { return .unable }
    let lines = ObservationLines(
      output, isJSON: arguments.value(format) == "jsonl", file: file,
      subject: replay.subject, usesColor: console.usesColor(on: output),
      redaction: redaction, isPaced: isPaced(options))
    for note in replay.notes { console.note(file, note) }
    if arguments.value(speed) == nil, input.seconds > longestUnsaid {
      console.note(
        file,
        "plays in the recorded time, \(input.seconds) s at most; --speed max does not wait")
    }
    let status: ExitStatus
    do {
      let outcome = try await run(replay, lines)
      try lines.write(outcome)
      status = outcome.divergence == nil ? .done : .failed
    } catch let interrupted as Interrupted {
      // What was seen so far stays.
      try lines.flush()
      throw interrupted
    } catch let error as DataClientError {
      try lines.flush()
      console.error("\(file): \(error)")
      status = .unable
    }
    try output.close(isWhole: status != .unable)
    return status
  }

  /// Runs the replay to its end, or until a line can't be written.
  private static func run(
    _ replay: any PreparedReplay, _ lines: ObservationLines
  ) async throws -> any PreparedOutcome {
    try await withThrowingTaskGroup(of: (any PreparedOutcome)?.self) { group in
      group.addTask { try await replay.run(lines) }
      group.addTask {
        try await lines.failure()
        return nil
      }
      defer { group.cancelAll() }
      while let outcome = try await group.next() {
        if let outcome { return outcome }
      }
      throw CancellationError()
    }
  }

  // MARK: Options

  /// How many seconds a user waits without being told how long it takes.
  private static let longestUnsaid = 10

  private static func selection(_ arguments: Arguments) throws(UsageError) -> ReplaySelection {
    switch (arguments.value(connection), arguments.value(clientID)) {
    case (nil, nil): return .only
    case (nil, let name?): return .client(name)
    case (let number?, nil):
      guard let number = Int(number), number > 0 else {
        throw UsageError(
          "--connection can't be '\(number)'",
          "type the number of a connection, as reprise inspect shows it: --connection 4")
      }
      return .connection(number)
    case (_?, _?):
      throw UsageError(
        "--connection and --client-id choose a client both", "type one of them alone")
    }
  }

  private static func window(_ arguments: Arguments) throws(UsageError) -> ReplayWindow {
    ReplayWindow(
      from: try SessionOptions.moment(from, arguments), to: try SessionOptions.moment(to, arguments)
    )
  }

  private static func replayOptions(
    _ arguments: Arguments, _ file: String
  ) throws(UsageError) -> ReplayOptions {
    let match = arguments.value(match).flatMap(ReplayMatch.init) ?? .json
    let order = arguments.value(order).flatMap(ReplayOrder.init) ?? .causal
    var options = ReplayOptions(
      match: match, order: order, source: ReplayInput.source(file, arguments))
    guard let factor = try SessionOptions.speed(speed, arguments, usual: 1) else {
      return options
    }
    options.pace = .scaled(factor, by: ContinuousClock())
    return options
  }

  private static func isPaced(_ options: ReplayOptions) -> Bool {
    if case .scaled = options.pace { true } else { false }
  }
}
