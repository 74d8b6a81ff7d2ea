import Capture
import Glibc
import RepriseCore
import SessionView

/// `reprise view`: looks at a session, event by event.
enum ViewCommand: Command {
  private static let at = OptionSpec(
    name: "at", value: "FRAME", help: "Shows what there is to a frame, without a terminal.")
  static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "Of --at: text (default): for people; json: one object for programs.")
  private static let follow = OptionSpec(
    name: "follow", help: "Waits at the end of FILE for what is written to it.")

  /// How often it is looked, every 10 ms, whether what is followed can be read.
  private static let mostWaits = 30

  static let spec = CommandSpec(
    name: "view", summary: "Looks at a session: its events, findings, bytes and states.",
    operands: "FILE | --interface NAME", operandCount: 0...1,
    options: [
      at, follow, ConformRun.assume, StepView.sdk, format, .envelope, .output, .showSecrets,
      .redact, .bpf, .decode,
      .keyLog, .serverKey, .preSharedKey, .memory, .jobs,
    ] + StepView.options + InterfaceOptions.live,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl);
      - is standard input.

      Keys are those of less and tig; h shows them:
      \(ViewerHelp.indented(by: 2))

      It takes any terminal that knows ECMA-48, from 20 columns and 5 rows on; nothing of a file
      steers it. The shell's screen is given back whatever ends the command.

      With --follow it goes on with what is written to FILE, as by reprise record or tcpdump -U;
      with --interface with what passes a network interface (what that takes tells reprise help
      record interface). At its end the list goes on with what comes.

      With --sdk it runs the SDK on the session, as replay sdk does, and lists each step:
      ⇐ what its client hears, ⇒ what it has that do, → what the app calls, ← what it is told.
      The details are the SDK's state behind the step: timers, subscriptions, open calls; +
      marks what is new. Steps can be gone through in both directions.

      With --at it shows each event of a frame (in a recording, of a line): its fields, what
      it answers and what answers it, what was found in it, how its connection is behind it
      (subscriptions, packets in flight), and its bytes, of which ** hides secrets. Of a frame
      that ends none, it shows the opening or the end of a connection that begins in it.

      Examples:
        reprise view capture.pcap
        reprise view --follow session.jsonl
        reprise view --interface eth0 --bpf 'port 1883'
        tcpdump -U -w - port 1883 | reprise view -
        reprise view --sdk channel session.jsonl --client-id 'dev1&a1pk'
        reprise view capture.pcap --at 17
        reprise view session.jsonl --at 17 --format json
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    if arguments.has(StepView.sdk) {
      return try await StepView.run(arguments, at: try arguments.count(at), console)
    }
    for option in StepView.options where arguments.has(option) {
      throw UsageError("--\(option.name) is for --sdk", "add --sdk channel")
    }
    if let frame = try arguments.count(at) { return try show(frame, arguments, console) }
    for option in [format, .output] where arguments.has(option) {
      throw UsageError("--\(option.name) is for --at", "add --at FRAME")
    }
    return try look(arguments, console)
  }

  /// Lets the user look at a file or an interface in the terminal.
  private static func look(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let interface = try InterfaceOptions(live: arguments, for: spec)
    if interface != nil, arguments.has(follow) {
      throw UsageError("--follow is for a file", "leave it out: an interface is followed anyhow")
    }
    let name = interface?.name ?? arguments.operand
    let feed = SessionFeed(try SessionSettings(name, arguments))
    let terminal = try Terminal()
    if let interface {
      try start(feed, interface, arguments)
    } else {
      try start(feed, name, arguments)
    }
    // What can't be read at all needs no screen; what only comes later does.
    let isPatient = interface == nil && !arguments.has(follow)
    var waits = 0
    while !feed.isReady, isPatient || waits < mostWaits {
      try Interruption.check()
      usleep(10_000)
      waits += 1
    }
    if !feed.isOver || feed.failure == nil {
      var run = ViewerRun(
        feed, on: terminal, usesColor: console.usesColor(on: .standard),
        follows: interface != nil || arguments.has(follow))
      run.run()
      feed.stop()
    }
    for note in feed.notes { console.note(name, note) }
    guard let failure = feed.failure else { return .done }
    console.error("\(name): \(failure)")
    return .unable
  }

  private static func start(
    _ feed: SessionFeed, _ file: String, _ arguments: Arguments
  ) throws {
    var options = try InputOptions(arguments)
    var path = file
    if arguments.has(follow), file != "-" {
      let growing = try GrowingFile(file)
      path = growing.path
      // Of what comes through a pipe nobody knows when more of it comes.
      options.jobs = 1
      try growing.start()
    }
    try feed.start { [options, path] taker in
      try SessionInput.read(path, options: options, into: &taker).notes
    }
  }

  private static func start(
    _ feed: SessionFeed, _ interface: InterfaceOptions, _ arguments: Arguments
  ) throws {
    // Notes would be written over the screen.
    var silent = Console()
    silent.isQuiet = true
    let run = try InterfaceRun(interface, arguments, silent)
    try feed.start { taker in
      try run.read(into: &taker, writingTo: .standard)
      return []
    }
  }

  /// Writes what there is to a frame.
  private static func show(
    _ frame: Int, _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    guard try InterfaceOptions(live: arguments, for: spec) == nil else {
      throw UsageError("--at is for a file, and an interface is none", "name a file")
    }
    guard !arguments.has(follow) else {
      throw UsageError("--at waits for nothing", "leave --follow out")
    }
    let run = try InputRun(arguments.operands, arguments, console, output: nil)
    var loader = try SessionLoader(SessionSettings(arguments.operand, arguments))
    let output = try OutputFile(
      arguments.value(.output), inputs: arguments.operands, isPrivate: arguments.has(.showSecrets))
    let isWhole = try run.read(into: &loader) == 0
    let session = loader.session
    for note in session.cutNotes { console.note(session.file, note) }
    let ended = session.archive.events(ofFrame: frame)
    let events = ended.isEmpty ? session.archive.events(beginningIn: frame) : ended
    guard !events.isEmpty else {
      if isWhole { console.error("\(arguments.operand): \(absence(of: frame, in: session))") }
      return .unable
    }
    let pages = events.compactMap { session.page(at: $0) }
    if arguments.value(format) == "json" {
      let object = JSONValue([
        "file": session.file, "frame": frame, "events": JSONValue.array(pages.map(\.json)),
      ])
      try output.write("\(object)\n")
    } else {
      let text = pages.map { page in
        page.lines().map { "\($0.text)\n" }.joined()
      }
      try output.write(text.joined(separator: "\n"))
    }
    try output.close(isWhole: isWhole)
    return isWhole ? .done : .unable
  }

  /// Why there is nothing to show, and what there is instead.
  private static func absence(of frame: Int, in session: ViewedSession) -> String {
    guard let next = session.archive.event(atOrBehind: frame),
      let context = session.archive.context(at: next)
    else { return "there is no event in it" }
    let place = context.frame > frame ? "next" : "last"
    return "frame \(frame) ends no event; the \(place) event is in frame \(context.frame)"
  }
}
