package import Wire

/// Drives a broker by cases, and gives back what was said in each.
package struct BrokerDriver {
  /// A broker that was started for one case, and ends when nobody holds it any more.
  package protocol Own: AnyObject {
    /// Where it is.
    var place: BrokerPlace { get }
  }

  private let setting: BrokerSetting
  private let own: (() throws(DriverError) -> any Own)?
  private let pause: Duration
  /// What the broker says of itself; known once it was asked.
  package private(set) var abilities = BrokerAbilities()
  private var traces = Traces()
  /// How many runs there were, which name clients and topics.
  private var count = 0

  /// Prepares to drive a broker.
  /// - Parameters:
  ///   - place: Where it is.
  ///   - run: What tells this run from others, eight letters and digits.
  ///   - application: What writes recordings, with its version.
  ///   - rate: How many cases begin in a second at most; nil without a limit.
  ///   - own: Starts a broker for one case, like the one at that place; nil where none can be started.
  package init(
    _ place: BrokerPlace, run: String, application: String, rate: Int?,
    own: (() throws(DriverError) -> any Own)?
  ) {
    self.own = own
    if own == nil { abilities.noteIsShared() }
    if place.credentials.authentication == nil { abilities.noteHasNoMethod() }
    setting = BrokerSetting(place, run: run, application: application)
    pause = rate.map { .milliseconds(1_000 / max(1, $0)) } ?? .zero
  }

  /// Asks the broker what it can do.
  /// - Parameters:
  ///   - versions: The versions to ask in.
  ///   - isStopped: Whether to break off.
  /// - Returns: What was said, one result a version.
  /// - Throws: ``DriverError`` where it can't be reached, lets nobody in, or speaks none of the versions.
  package mutating func ask(
    _ versions: Set<MQTTVersion>, isStopped: () -> Bool
  ) throws(DriverError) -> [CaseResult] {
    var answers: [(CasePlan, FirstAnswer)] = []
    let results = run(CasePlan.plans(of: try BrokerAbilities.asking(), in: versions), isStopped) {
      run in
      answers.append((run.plan, run.world.firstAnswer))
    }
    for result in results {
      if case .stopped(let why) = result.outcome { throw DriverError(.unreachable, why) }
    }
    var refusals: [String] = []
    for (plan, answer) in answers {
      guard let version = plan.version else { continue }
      do {
        try abilities.take(version, answer, in: plan.name)
      } catch {
        if !refusals.contains(error.message) { refusals.append(error.message) }
      }
    }
    guard refusals.isEmpty else {
      throw DriverError(.refused, refusals.joined(separator: "; "))
    }
    guard abilities.missingVersions.count < versions.count || isStopped() else {
      let why = abilities.missingVersions.values.sorted().joined(separator: "; ")
      throw DriverError(.refused, why + "; check that it is a broker")
    }
    return results
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
    let possible = plans.filter { abilities.obstacle(to: $0) == nil }
    let isAlone = { (plan: CasePlan) in plan.driven.needs.contains(.alone) }
    var done = 0
    func count(_ run: CaseRun<CaseClients>) {
      done += 1
      tell(done)
    }
    var shared = run(possible.filter { !isAlone($0) }, isStopped, count)[...]
    // One at a time behind the others, whose times the start of a broker would disturb.
    var alone = possible.filter(isAlone).compactMap { plan in
      isStopped() ? nil : runAlone(plan, isStopped, count)
    }[...]
    return plans.compactMap { plan in
      if let why = abilities.obstacle(to: plan) { return CaseResult(plan, .notApplicable(why)) }
      return isAlone(plan) ? alone.popFirst() : shared.popFirst()
    }
  }

  /// Runs a plan on a broker that is started for it.
  private mutating func runAlone(
    _ plan: CasePlan, _ isStopped: () -> Bool, _ tell: (CaseRun<CaseClients>) -> Void
  ) -> CaseResult? {
    do throws(DriverError) {
      guard let broker = try own?() else { return nil }
      let results = run([plan], at: broker.place, isStopped, tell)
      withExtendedLifetime(broker) {}
      return results.first
    } catch {
      return CaseResult(plan, .stopped(error.message))
    }
  }

  /// Takes away what the cases left: retained messages and sessions.
  /// - Returns: What could not be taken away, for people; nil where nothing is left.
  package mutating func clean() -> String? {
    let missing = abilities.missingVersions
    guard let cases = try? traces.cleaning({ missing[$0] == nil }), !cases.isEmpty else {
      return nil
    }
    let plans = cases.flatMap { CasePlan.plans(of: $0, in: [.v3_1_1, .v5_0]) }
    let results = run(plans, { false }) { _ in }
    let isClean = results.allSatisfy { $0.outcome == .done }
    return isClean
      ? nil
      : "\(traces.topics.count) retained messages below \(setting.topicPrefix) and "
        + "\(traces.sessions.count) sessions of clients \(setting.prefix)… may be left on the broker"
  }

  /// Runs plans, at the broker of the run or at one of their own, of which nothing has to be taken away.
  private mutating func run(
    _ plans: [CasePlan], at place: BrokerPlace? = nil, _ isStopped: () -> Bool,
    _ tell: (CaseRun<CaseClients>) -> Void
  ) -> [CaseResult] {
    var results: [Int: CaseResult] = [:]
    let first = count
    let setting = place.map { self.setting.at($0) } ?? self.setting
    var traces = traces
    var loop = CaseLoop<CaseClients>(pause: pause)
    loop.run(plans.count) { index, now in
      let plan = plans[index]
      let recorder = CaseRecorder(
        of: plan, "of \(setting.place.name)", by: setting.application, at: now)
      let clients = CaseClients(plan, first + index, setting, recorder)
      return CaseRun(plan, first + index, clients, recorder, at: now)
    } isStopped: {
      isStopped()
    } _: { run, recording in
      if place == nil { traces.formUnion(run.world.traces) }
      results[run.index - first] = run.result(recording)
      tell(run)
    }
    self.traces = traces
    count += plans.count
    return plans.indices.compactMap { results[$0] }
  }
}
