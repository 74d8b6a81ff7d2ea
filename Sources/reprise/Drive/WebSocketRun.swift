import Driver
import RepriseCore
import Synchronization

/// Drives one end of WebSocket by cases, and judges what it does.
enum WebSocketRun {
  /// Runs the cases that are asked for.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - console: How to tell the user.
  ///   - peer: Which end is driven.
  ///   - target: What is asked for, where what would be sent is shown alone; nil where nobody has said.
  ///   - subject: Makes ready what is driven; it is not asked for where nothing is.
  /// - Returns: What the process ends with.
  /// - Throws: ``UsageError``, ``OutputError``, ``DriverError`` or ``Interrupted``.
  static func run(
    _ arguments: Arguments, _ console: Console, _ peer: Peer,
    asking target: () throws -> WebSocketTarget? = { nil }, _ subject: () throws -> WebSocketSubject
  ) throws -> ExitStatus {
    let share = try DriveShare(of: plans(arguments, peer), arguments)
    if arguments.has(DriveOptions.dryRun) {
      return try DriveOptions.show(share, arguments, asking: target())
    }
    let report = try DriveReport(arguments, share, console)
    let results = try drive(try subject(), share, arguments, console)
    return try report.write(results, by: ["rfc6455"], on: peer)
  }

  /// The plans of the cases that are asked for and can drive that end.
  private static func plans(_ arguments: Arguments, _ peer: Peer) throws -> [CasePlan] {
    let plans = try DriveOptions.plans(of: .webSocket, in: [], arguments)
    let named = arguments.list(DriveOptions.cases)
    if !named.isEmpty, let other = plans.first(where: { !$0.driven.subjects.contains(peer) }) {
      let reason = peer == .server ? "answers a client" : "asks a server"
      throw UsageError(
        "the case \(other.driven.name) \(reason), and drives no \(peer.rawValue)", "leave it out")
    }
    return plans.filter { $0.driven.subjects.contains(peer) }
  }

  /// Runs what is run here.
  private static func drive(
    _ subject: WebSocketSubject, _ share: DriveShare, _ arguments: Arguments, _ console: Console
  ) throws -> DriveResults {
    let plans = share.own
    let line = StatusLine(console)
    defer { line.clear() }
    // What was begun is brought to its end, and what was started is stopped.
    Interruption.grace.store(20, ordering: .relaxed)
    var driver = WebSocketDriver(
      subject, application: "reprise \(Reprise.version)",
      rate: try arguments.count(DriveOptions.rate))
    let isStopped = { Interruption.status != nil }
    let asked = try driver.ask(isStopped: isStopped)
    let results = driver.run(plans, isStopped: isStopped) { done in
      line.draw("\(done) of \(plans.count) cases")
    }
    line.clear()
    return share.results(asked, results, isWhole: !isStopped())
  }
}
