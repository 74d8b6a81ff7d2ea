import ConformanceKit
import Driver
import LiveClient
import RepriseCore
import Synchronization

/// Drives one end of WebSocket by cases, and judges what it does.
enum WebSocketRun {
  /// Runs the cases that are asked for.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - console: How to tell the user.
  ///   - peer: Which end is driven.
  ///   - subject: Makes ready what is driven; it is not asked for where nothing is.
  /// - Returns: What the process ends with.
  /// - Throws: ``UsageError``, ``OutputError``, ``DriverError`` or ``Interrupted``.
  static func run(
    _ arguments: Arguments, _ console: Console, _ peer: Peer,
    _ subject: () throws -> WebSocketSubject
  ) throws -> ExitStatus {
    let plans = try plans(arguments, peer)
    if arguments.has(ConformBrokerCommand.dryRun) { return try show(plans, arguments) }
    // A step that can't be done is a mistake of its author, and no conduct of a subject.
    for plan in plans { _ = try plan.preview() }
    let baseline = try BaselineOptions(arguments, inputs: [], ownsForce: false)
    let outputs = try ReportFiles(arguments, inputs: [], others: baseline.paths)
    let recordings = try CaseRecordings(
      folder: arguments.value(ConformBrokerCommand.save),
      replaces: arguments.has(ConformBrokerCommand.force))
    try recordings.check(plans)
    var judging = try ConformRun.options(arguments, baseline)
    judging.specs = ["rfc6455"]
    judging.subject = peer == .server ? .server : .client
    var judge = try CaseJudge(judging)
    let isWhole = try drive(try subject(), plans, arguments, console) { result in
      try judge.take(result, in: recordings.write(result))
    }
    let report = judge.report()
    let noted = try baseline.apply(to: report, isWhole: true, console) { entries in
      Set(entries.filter(report.keeps))
    }
    let isEmpty = !report.hasJudged && !arguments.has(ConformRun.allowEmpty)
    return try outputs.write(noted, isWhole: !isEmpty && isWhole, console)
  }

  /// The plans of the cases that are asked for and can drive that end.
  private static func plans(_ arguments: Arguments, _ peer: Peer) throws -> [CasePlan] {
    let cases = try CaseChoice.cases(arguments, .webSocket)
    let named = arguments.list(ConformBrokerCommand.cases)
    let others = cases.filter { !$0.subjects.contains(peer) }
    if !named.isEmpty, let other = others.first {
      let reason = peer == .server ? "answers a client" : "asks a server"
      throw UsageError(
        "the case \(other.name) \(reason), and drives no \(peer.rawValue)", "leave it out")
    }
    let repetitions = try arguments.count(ConformBrokerCommand.chop) ?? 0
    return cases.filter { $0.subjects.contains(peer) }.flatMap { CasePlan.plans(of: $0, in: []) }
      .flatMap { plan in [plan] + (0..<repetitions).map { plan.cut($0 + 1) } }
  }

  /// Runs plans.
  /// - Returns: Whether all of them were run.
  private static func drive(
    _ subject: WebSocketSubject, _ plans: [CasePlan], _ arguments: Arguments, _ console: Console,
    _ take: (CaseResult) throws -> Void
  ) throws -> Bool {
    let line = StatusLine(console)
    defer { line.clear() }
    // What was begun is brought to its end, and what was started is stopped.
    Interruption.grace.store(20, ordering: .relaxed)
    var driver = WebSocketDriver(
      subject, application: "reprise \(Reprise.version)",
      rate: try arguments.count(ConformBrokerCommand.rate))
    let isStopped = { Interruption.status != nil }
    var results = try driver.ask(isStopped: isStopped)
    results += driver.run(plans, isStopped: isStopped) { done in
      line.draw("\(done) of \(plans.count) cases")
    }
    line.clear()
    try Interruption.check()
    for result in results { try take(result) }
    return !isStopped()
  }

  /// Shows what would be sent.
  private static func show(_ plans: [CasePlan], _ arguments: Arguments) throws -> ExitStatus {
    let output = try OutputFile(arguments.value(.output), inputs: [])
    for plan in plans { try output.write(try plan.preview()) }
    try output.close()
    return .done
  }
}
