import Capture
import ConformanceKit
import RepriseCore

/// One pass over what an interface brings, for a command that reads files otherwise.
struct InterfaceRun {
  private let options: InterfaceOptions
  private let input: InputOptions
  private let console: Console

  /// Prepares a pass.
  /// - Parameters:
  ///   - options: What is captured.
  ///   - arguments: Where `--decode`, the keys of TLS and `--memory` stand.
  ///   - console: How to tell the user about notes.
  /// - Throws: ``UsageError`` for an option that can't be understood.
  init(
    _ options: InterfaceOptions, _ arguments: Arguments, _ console: Console
  ) throws(UsageError) {
    self.options = options
    self.console = console
    input = try InputOptions(arguments)
  }

  /// Captures, and hands the events on as they come.
  /// - Parameters:
  ///   - consumer: What takes the events.
  ///   - output: Where they go in the end; it is opened, because later there may be no right to do that.
  /// - Throws: What keeps it from capturing, ``OutputError`` and ``Interrupted``.
  func read<Consumer: SessionConsumer>(
    into consumer: inout Consumer, writingTo output: OutputFile
  ) throws {
    let capture = try options.open()
    let tap = try SessionTap(consumer, options.name, input, console)
    defer { consumer = tap.consumer }
    try run(capture, tap, writingTo: [output])
  }

  /// Captures, and judges what comes.
  /// - Parameters:
  ///   - judging: What is judged, and how.
  ///   - news: Where findings go when they come; nil leaves them to the report.
  ///   - isAccepted: Which findings are no news.
  ///   - outputs: Where the report goes; they are opened, because later there may be no right to do that.
  ///   - conclude: What is done with the report.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: What keeps it from capturing, ``OutputError`` and ``Interrupted``.
  func judge(
    _ judging: ConformanceOptions, tellingTo news: OutputFile?,
    except isAccepted: @escaping (Finding, Clause) -> Bool, writingTo outputs: [OutputFile],
    conclude: @escaping (ConformanceReport) throws -> ExitStatus
  ) throws -> ExitStatus {
    let judge = try LiveJudge(
      options.name, judging, input: input, tellingTo: news, except: isAccepted, console)
    let tap = InterfaceJudge(judge, options.name, console, conclude: conclude)
    try run(options.open(), tap, writingTo: outputs)
    return tap.status
  }

  private func run(
    _ capture: InterfaceCapture, _ tap: any InterfaceTap, writingTo outputs: [OutputFile]
  ) throws {
    for output in outputs { try output.open() }
    LeastRights.keep(for: .nothing, awaiting: input.keyLogs, options.name, console) { user in
      for output in outputs { output.give(to: user) }
    }
    console.note(options.name, "capturing")
    let loop = InterfaceLoop(
      capture, [tap], duration: options.duration, count: options.count)
    defer { InterfaceStatus.tellDrops(of: capture, console) }
    try loop.run()
  }
}

/// Makes events of what an interface brings, and hands them on.
private final class SessionTap<Consumer: SessionConsumer>: InterfaceTap {
  /// What the events are handed to: their session holds it as well.
  private final class Box {
    var consumer: Consumer

    init(_ consumer: Consumer) { self.consumer = consumer }
  }

  private let box: Box
  private var session: FrameSession
  private let name: String
  private let console: Console
  private var frames = 0

  init(
    _ consumer: Consumer, _ name: String, _ input: InputOptions, _ console: Console
  ) throws {
    let box = Box(consumer)
    self.box = box
    self.name = name
    self.console = console
    session = try FrameSession(live: input) { try box.consumer.consume($0) }
    try box.consumer.beginFile(name)
  }

  var consumer: Consumer { box.consumer }

  func take(_ frame: borrowing Frame, at time: Timestamp) {
    frames = frame.number
    session.take(frame)
  }

  func settle(_ time: Timestamp) throws -> Timestamp? {
    let wish = session.settle(time)
    if let failure = session.failure { throw failure }
    return wish
  }

  var isFull: Bool { false }

  func finish(_ time: Timestamp) throws {
    let summary = try session.finish(frames: frames)
    try box.consumer.endFile()
    for note in summary.notes { console.note(name, note) }
  }
}
