import RepriseCore
import SDKReplay
import SessionView

/// `reprise view --sdk`: goes through the SDK's states in a session, step by step.
enum StepView {
  static let sdk = OptionSpec(
    name: "sdk", value: "SYSTEM", choices: ["channel", "gateway", "link", "requests"],
    help: "Shows what the SDK does in the session, and its state at each step.")
  private static let connection = OptionSpec(
    name: "connection", value: "N", help: "Of --sdk: replays connection N alone.")
  private static let clientID = OptionSpec(
    name: "client-id", value: "NAME",
    help: "Of --sdk: replays the client of this client identifier or user name.")

  /// The options that only --sdk has.
  static let options = [connection, clientID]

  /// Has all steps, as the replay is over before the first is shown.
  private struct Finished: ViewedSource {
    let steps: ViewedSteps

    var isOver: Bool { true }
    func withModel<Result: Sendable>(_ use: (ViewedSteps) -> Result) -> Result { use(steps) }
  }

  /// Replays the session, and lets the user look at its steps, or writes those of a frame.
  static func run(
    _ arguments: Arguments, at frame: Int?, _ console: Console
  ) async throws -> ExitStatus {
    guard try InterfaceOptions(live: arguments, for: ViewCommand.spec) == nil else {
      throw UsageError("--sdk is for a file, and an interface is none", "name a file")
    }
    let file = try SessionFolder.session(arguments.operand)
    let terminal = frame == nil ? try Terminal() : nil
    let redaction = try RedactionRules(arguments, hidesSecrets: !arguments.has(.showSecrets))
    let input = try ReplayInput(
      file: file, selection: try selection(arguments), window: ReplayWindow(from: nil, to: nil),
      arguments: arguments, console: console)
    let source = ReplayInput.source(file, arguments)
    guard
      let replay = input.prepare(ReplayOptions(match: .json, order: .causal, source: source)),
      isOfSystem(replay, arguments, console)
    else { return .unable }
    let recorder = StepRecorder(
      file, subject: replay.subject, options: "--sdk \(arguments.value(sdk) ?? "channel")",
      redaction: redaction)
    do {
      try await Interruption.cancel { try await replay.run(recorder) }
    } catch let error as DataClientError {
      console.error("\(file): \(error)")
      return .unable
    }
    let steps = recorder.steps
    if let frame { return try show(frame, steps, arguments, console) }
    if let terminal {
      var run = ViewerRun(
        Finished(steps: steps), on: terminal, usesColor: console.usesColor(on: .standard))
      run.run()
    }
    for note in replay.notes { console.note(file, note) }
    return .done
  }

  private static func selection(_ arguments: Arguments) throws(UsageError) -> ReplaySelection {
    switch (try arguments.count(connection), arguments.value(clientID)) {
    case (nil, nil): return .only
    case (nil, let name?): return .client(name)
    case (let number?, nil): return .connection(number)
    case (_?, _?):
      throw UsageError(
        "--connection and --client-id choose a client both", "type one of them alone")
    }
  }

  /// Whether the session is of the system that was asked for; tells what it is of if not.
  private static func isOfSystem(
    _ replay: any PreparedReplay, _ arguments: Arguments, _ console: Console
  ) -> Bool {
    let names = replay.systems
    guard let wanted = arguments.value(sdk), !names.contains(wanted) else { return true }
    console.error(
      "\(arguments.operand): the session is not of the SDK's \(wanted); type --sdk "
        + "\(names.first ?? "channel")")
    return false
  }

  /// Writes the steps of a frame.
  private static func show(
    _ frame: Int, _ steps: ViewedSteps, _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    let output = try OutputFile(
      arguments.value(.output), inputs: arguments.operands, isPrivate: arguments.has(.showSecrets))
    let found = steps.steps(ofFrame: frame)
    guard !found.isEmpty else {
      console.error("\(steps.file): the SDK does nothing at frame \(frame)")
      return .unable
    }
    if arguments.value(ViewCommand.format) == "json" {
      let object = JSONValue([
        "file": steps.file, "frame": frame, "subject": steps.subject,
        "steps": JSONValue.array(found.map { steps.json(at: $0) }),
      ])
      try output.write("\(object)\n")
    } else {
      let pages = found.map { steps.lines(at: $0).map { "\($0.text)\n" }.joined() }
      try output.write(pages.joined(separator: "\n"))
    }
    try output.close()
    return .done
  }
}

extension PreparedReplay {
  /// The names of the systems that the session is of, as --sdk takes them.
  fileprivate var systems: [String] {
    switch self {
    case is SystemReplay<ChannelPlan>: ["channel"]
    case is SystemReplay<GatewayPlan>: ["gateway"]
    case is SystemReplay<SharedPlan>: ["channel", "gateway"]
    case is SystemReplay<MessageLinkPlan>, is SystemReplay<StreamLinkPlan>: ["link"]
    default: ["requests"]
    }
  }
}
