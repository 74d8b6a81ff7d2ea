import RepriseCore
import Wire

/// Drives a server or a client of WebSocket by cases, and gives back what was said in each.
package struct WebSocketDriver {
  private let subject: WebSocketSubject
  private let application: String
  private let pause: Duration
  /// Why it has no permessage-deflate; nil where it has, or was not asked yet.
  private var missingDeflate: String?

  /// How many cases run at a time: a command is a process that takes time to start, and a client that connects by itself
  /// does so once at a time.
  private var most: Int {
    switch subject {
    case .server: 32
    case .client(let command, _): command == nil ? 1 : 8
    }
  }

  /// Prepares to drive a subject.
  /// - Parameters:
  ///   - subject: What is driven.
  ///   - application: What writes recordings, with its version.
  ///   - rate: How many cases begin in a second at most; nil without a limit.
  package init(_ subject: WebSocketSubject, application: String, rate: Int?) {
    (self.subject, self.application) = (subject, application)
    pause = rate.map { .milliseconds(1_000 / max(1, $0)) } ?? .zero
  }

  /// Asks the subject what it can do.
  /// - Parameter isStopped: Whether to break off.
  /// - Returns: What was said.
  /// - Throws: ``DriverError`` where it can't be reached, or speaks no WebSocket.
  package mutating func ask(isStopped: () -> Bool) throws(DriverError) -> [CaseResult] {
    var handshake: (request: WebSocketRequest?, response: WebSocketResponse?)
    let results = run(CasePlan.plans(of: try Self.asking(), in: []), isStopped) { run in
      handshake = run.world.firstHandshake
    }
    for result in results {
      if case .stopped(let why) = result.outcome { throw DriverError(.unreachable, why) }
    }
    guard !isStopped() else { return results }
    guard let response = handshake.response else {
      throw DriverError(
        .refused, "\(subject.name) answers no request for WebSocket; check that it speaks it")
    }
    guard response.accepts else {
      throw DriverError(
        .refused,
        "\(subject.name) refuses WebSocket by status \(response.status); check the path")
    }
    let agrees = response.extensions.contains { $0.name == PermessageDeflate.name }
    missingDeflate =
      agrees
      ? nil
      : subject.peer == .server
        ? "its answer to an offer of permessage-deflate agrees on none, see abilities"
        : "its request offers no permessage-deflate, see abilities"
    return results
  }

  /// The case that asks for what it can do.
  private static func asking() throws(DriverError) -> DrivenCase {
    try DrivenCase(
      [
        "name": "abilities", "title": "What it agrees on.",
        "clauses": ["RFC6455-4.2.2-8", "RFC6455-4.1-12"],
        "steps": [["do": "open", "extensions": "permessage-deflate"], ["do": "close"]],
      ], .webSocket, in: "abilities")
  }

  /// Runs plans, many at a time.
  /// - Parameters:
  ///   - plans: The plans.
  ///   - isStopped: Whether to break off; what was done by then is in the results.
  ///   - tell: Is told of each that is over, with how many are.
  /// - Returns: What came of them, in their order.
  package mutating func run(
    _ plans: [CasePlan], isStopped: () -> Bool, _ tell: (Int) -> Void
  ) -> [CaseResult] {
    let possible = plans.filter { obstacle(to: $0) == nil }
    var done = 0
    var results = run(possible, isStopped) { _ in
      done += 1
      tell(done)
    }[...]
    return plans.compactMap { plan in
      if let why = obstacle(to: plan) { return CaseResult(plan, .notApplicable(why)) }
      return results.popFirst()
    }
  }

  private func obstacle(to plan: CasePlan) -> String? {
    plan.driven.needs.contains(.deflate) ? missingDeflate : nil
  }

  private func run(
    _ plans: [CasePlan], _ isStopped: () -> Bool, _ tell: (CaseRun<WebSocketWorld>) -> Void
  ) -> [CaseResult] {
    var results: [Int: CaseResult] = [:]
    var loop = CaseLoop<WebSocketWorld>(most: most, pause: pause)
    loop.run(plans.count) { index, now in
      let plan = plans[index]
      let recorder = CaseRecorder(of: plan, "of \(subject.name)", by: application, at: now)
      let world = WebSocketWorld(plan, subject, recorder)
      return CaseRun(plan, index, world, recorder, at: now)
    } isStopped: {
      isStopped()
    } _: { run, recording in
      results[run.index] = run.result(recording)
      tell(run)
    }
    return plans.indices.compactMap { results[$0] }
  }
}
