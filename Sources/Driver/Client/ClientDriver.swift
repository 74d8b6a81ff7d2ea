import RepriseCore
package import Wire

/// Drives a client by cases, as the broker that it connects to, and gives back what was said in each.
package struct ClientDriver {
  private let setting: ClientSetting
  private let pause: Duration
  private let commands: [ClientCommand]
  /// What clients were seen to do, by the command and the version that they were asked for.
  private var seen: [Meeting] = []
  private var count = 0

  /// What came of meeting the client of a command first.
  private struct Meeting {
    let command: ClientCommand?
    let version: MQTTVersion
    let abilities: ClientAbilities
    let file: String
  }

  /// Whether WebSocket carries the MQTT of one of them.
  package var usesWebSocket: Bool { seen.contains(where: \.abilities.usesWebSocket) }
  /// The versions that are spoken.
  package var versions: Set<MQTTVersion> { Set(seen.map(\.version)) }

  /// Prepares to drive a client.
  /// - Parameters:
  ///   - commands: What starts it; none where it connects by itself.
  ///   - place: Where it finds its broker.
  ///   - run: What tells this run from others, eight letters and digits.
  ///   - application: What writes recordings, with its version.
  ///   - rate: How many cases begin in a second at most; nil without a limit.
  package init(
    _ commands: [ClientCommand], at place: ClientPlace, run: String, application: String, rate: Int?
  ) {
    self.commands = commands
    setting = ClientSetting(place: place, run: run, application: application)
    pause = rate.map { .milliseconds(1_000 / max(1, $0)) } ?? .zero
  }

  // MARK: Meeting

  /// Meets the client, and sees what it does of itself.
  /// - Parameters:
  ///   - versions: The versions to meet it in; one that speaks but one is met in that.
  ///   - isStopped: Whether to break off.
  /// - Returns: What was said, one result a meeting.
  /// - Throws: ``DriverError`` where it can't be started or does not connect, or speaks none of the versions.
  package mutating func meet(
    _ versions: Set<MQTTVersion>, isStopped: () -> Bool
  ) throws(DriverError) -> [CaseResult] {
    var results: [CaseResult] = []
    var strange: [String] = []
    for command in commands.map(Optional.some) + (commands.isEmpty ? [nil] : []) {
      // Without a place for the version there is but one.
      let asked =
        command?.has("version") == true
        ? versions.sorted { $0.rawValue < $1.rawValue }
        : [versions.contains(.v5_0) ? .v5_0 : .v3_1_1]
      for version in asked where !isStopped() {
        let met = try meet(command, version, of: versions, isStopped)
        results += met.results
        if let meeting = met.meeting { seen.append(meeting) } else { strange += [met.why] }
      }
    }
    guard !seen.isEmpty || isStopped() else {
      throw DriverError(.refused, strange.joined(separator: "; "))
    }
    return results
  }

  /// Meets the client of a command in a version: by QoS 2, and by less where it does not do what it is for, as it may know
  /// no QoS 2.
  private mutating func meet(
    _ command: ClientCommand?, _ version: MQTTVersion, of versions: Set<MQTTVersion>,
    _ isStopped: () -> Bool
  ) throws(DriverError) -> (results: [CaseResult], meeting: Meeting?, why: String) {
    var results: [CaseResult] = []
    var meeting: Meeting?
    var why: String?
    let hasVersion = command?.has("version") == true
    for qos in command?.has("qos") == true ? [2, 1, 0] : [2] where !isStopped() {
      let plans = CasePlan.plans(of: try Self.meeting(command, by: qos), in: [version])
      var abilities = ClientAbilities()
      let met = run(plans.map { ($0, command) }, isStopped) { abilities = $0.world.abilities }
      // A program that is asked for what it does not speak may end as well.
      if case .stopped(let reason)? = met.first?.outcome {
        why = why ?? reason
        continue
      }
      guard let spoken = abilities.version, versions.contains(spoken),
        !hasVersion || spoken == version
      else {
        why = why ?? Self.strangeness(command, abilities.version)
        continue
      }
      results += met.map { $0.spoken(in: spoken) }
      let file = results.last?.plan.name ?? ""
      let does = abilities.does(command?.role ?? .any)
      if meeting == nil || does {
        meeting = Meeting(command: command, version: spoken, abilities: abilities, file: file)
      }
      if does { break }
    }
    return (results, meeting, why ?? "")
  }

  private static func strangeness(
    _ command: ClientCommand?, _ spoken: MQTTVersion?
  ) -> String {
    let who = command.map { "the client of '\($0.text)'" } ?? "the client"
    guard let spoken else { return "\(who) speaks no MQTT that is known" }
    return "\(who) speaks MQTT \(spoken.number), which is not asked for; leave --spec out"
  }

  private static func meeting(
    _ command: ClientCommand?, by qos: Int
  ) throws(DriverError) -> DrivenCase {
    let role = command?.role ?? .any
    let name = role == .any ? "abilities" : "abilities-\(role.rawValue)"
    return try DrivenCase(
      [
        "name": .string(qos == 2 ? name : "\(name)-by-qos-\(qos)"),
        "title": "What the client does of itself.",
        "clauses": ["MQTT-3.1.0-1"], "seconds": 90, "rows": [["qos": .number("\(qos)")]],
        "steps": [["do": "accept"], ["do": "await", "end": true, "seconds": 3]],
      ], .client, in: "abilities")
  }

  // MARK: Running

  /// The command that can run a plan, and why none can where that is so.
  private func choice(_ plan: CasePlan) -> (command: ClientCommand?, obstacle: String?) {
    var obstacle: String?
    for meeting in seen where meeting.version == plan.version {
      guard let why = meeting.abilities.obstacle(to: plan, in: meeting.file) else {
        return (meeting.command, nil)
      }
      // What a program for the other role lacks is not what the client lacks.
      if obstacle == nil || meeting.abilities.plays(for: plan) { obstacle = why }
    }
    return (nil, obstacle ?? "the client does not speak this version")
  }

  /// Runs plans, several at a time where the client is started by commands.
  /// - Parameters:
  ///   - plans: The plans, in versions that are spoken.
  ///   - isStopped: Whether to break off; what was done by then is in the results.
  ///   - tell: Is told of each that is over, with how many are.
  /// - Returns: What came of them, in their order.
  package mutating func run(
    _ plans: [CasePlan], isStopped: () -> Bool, _ tell: (Int) -> Void
  ) -> [CaseResult] {
    let choices = plans.map { ($0, choice($0)) }
    var done = 0
    let possible = choices.filter { $0.1.obstacle == nil }.map { ($0.0, $0.1.command) }
    var results = run(possible, isStopped) { _ in
      done += 1
      tell(done)
    }[...]
    return choices.compactMap { plan, choice in
      if let why = choice.obstacle { return CaseResult(plan, .notApplicable(why)) }
      return results.popFirst()
    }
  }

  private mutating func run(
    _ plans: [(CasePlan, ClientCommand?)], _ isStopped: () -> Bool,
    _ tell: (CaseRun<CaseBroker>) -> Void
  ) -> [CaseResult] {
    var results: [Int: CaseResult] = [:]
    let (first, setting) = (count, setting)
    // One that connects by itself does so once at a time; others are programs that need a processor.
    var loop = CaseLoop<CaseBroker>(most: commands.isEmpty ? 1 : 8, pause: pause)
    loop.run(plans.count) { index, now in
      let (plan, command) = plans[index]
      let recorder = CaseRecorder(
        of: plan, command.map { "of \($0.text)" } ?? "of a client that connects by itself",
        by: setting.application, at: now)
      let broker = CaseBroker(plan, first + index, command, setting, recorder)
      return CaseRun(plan, first + index, broker, recorder, at: now)
    } isStopped: {
      isStopped()
    } _: { run, recording in
      results[run.index - first] = run.result(recording)
      tell(run)
    }
    count += plans.count
    return plans.indices.compactMap { results[$0] }
  }
}

extension CaseResult {
  /// The same, of a client that turned out to speak another version.
  fileprivate func spoken(in version: MQTTVersion) -> CaseResult {
    CaseResult(plan.spoken(in: version), outcome, recording, heldUp: heldUp)
  }
}
