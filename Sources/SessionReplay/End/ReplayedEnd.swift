package import RepriseCore
import Wire

/// One end of a recorded connection, replayed to whoever is at the other one.
///
/// It is told what the other end sends, and says what is to be sent when; sockets and clocks are its driver's. What the
/// other end has to send comes in groups, which something of this end separates: in a group any order is right, and the
/// next one begins when all of it has come. What a server delivers has no groups, as nobody sees what it waits for. This
/// end sends something when everything before it has happened, and an answer when what it answers has come.
package struct ReplayedEnd: Sendable {
  /// The connection.
  package let script: ConnectionScript
  /// The end that this is.
  package let own: Peer
  let settings: ReplaySettings
  let roles: [StepRoles.Role]
  /// When each step happened; nil as long as it did not.
  private(set) var doneTimes: [Timestamp?]
  /// The first step that did not happen.
  private(set) var first = 0
  /// The identifiers that the other end gave to packets of its own, by their steps.
  var packetIDs: [Int: UInt16] = [:]
  /// What the last identifiers of the recording are in this run, for the client's next connection.
  package internal(set) var identifiers: [UInt16: UInt16]
  /// Which values were made anew.
  var bindings = ReplayBindings()
  /// What happened last: when, and when in the session.
  private(set) var progress: (time: Timestamp, recorded: Timestamp)
  /// When this end last sent something, and when that was in the session.
  package internal(set) var sent: (time: Timestamp, recorded: Timestamp)?

  /// How many steps are looked at to find what may happen next.
  static let reach = 256

  /// Creates an end of which nothing has happened.
  /// - Parameters:
  ///   - script: The connection.
  ///   - own: The end that this is.
  ///   - settings: How it is replayed.
  ///   - identifiers: What identifiers of the recording were on the connection of the client before.
  ///   - now: The time.
  package init(
    _ script: ConnectionScript, as own: Peer, _ settings: ReplaySettings,
    identifiers: [UInt16: UInt16] = [:], at now: Timestamp
  ) {
    (self.script, self.own, self.settings) = (script, own, settings)
    self.identifiers = script.keepsSession ? identifiers : [:]
    roles = StepRoles(script, playing: own, settings.options.roles).roles
    doneTimes = roles.map { $0 == .passing ? now : nil }
    progress = (now, script.steps.first?.time ?? now)
    skip()
  }

  /// Whether all of it has happened.
  package var isDone: Bool { first >= roles.count }

  /// The number, among all steps of the session, of the first that did not happen; nil where all did.
  package var firstOpen: Int? { isDone ? nil : script.steps[first].order }

  /// Whether a step has happened.
  package func isDone(_ step: Int) -> Bool {
    doneTimes.indices.contains(step) ? doneTimes[step] != nil : true
  }

  /// The steps that did not happen and are near enough to be next.
  var open: some Sequence<Int> {
    (first..<min(roles.count, first + Self.reach)).lazy.filter { doneTimes[$0] == nil }
  }

  /// Takes note that a step has happened.
  mutating func finish(_ step: Int, at now: Timestamp, by tempo: inout ReplayTempo) {
    doneTimes[step] = now
    tempo.note(now, script.steps[step].time)
    progress = (now, max(progress.recorded, script.steps[step].time))
    skip()
  }

  /// Takes note that steps need not happen any more.
  mutating func forget(from step: Int, at now: Timestamp) {
    for index in step..<max(step, roles.count) where doneTimes[index] == nil {
      doneTimes[index] = now
    }
    skip()
  }

  private mutating func skip() {
    while first < doneTimes.count, doneTimes[first] != nil { first += 1 }
  }

  // MARK: Patience

  /// What the other end has to do next; nil where it is this end's turn.
  private var expected: Int? {
    guard !isDone else { return nil }
    switch roles[first] {
    case .theirs, .theirAnswer: return first
    case .ours, .ourAnswer, .passing: return nil
    }
  }

  /// When it is given up that the other end does what it has to; nil where it has nothing to do.
  /// - Parameter tempo: The tempo of the replay.
  /// - Returns: The time.
  package func deadline(by tempo: ReplayTempo) -> Timestamp? {
    guard let expected else { return nil }
    let recorded = tempo.patience(from: progress.recorded, to: script.steps[expected].time)
    return progress.time.advanced(by: recorded).advanced(by: settings.patience)
  }

  /// Gives up waiting for the other end.
  /// - Parameter why: What is seen of it instead.
  /// - Returns: The divergence; nil where all has happened.
  package func givingUp(_ why: String) -> ReplayDivergence? {
    isDone ? nil : missing(expected ?? first, "the \(own.other.rawValue) \(why)")
  }

  /// Whether the recorded client kept to its Keep Alive where this end is now: then this one has to, too, however slowly
  /// it is replayed.
  package var keepsAlive: Bool {
    guard own == .client, script.keepAlive > 0, let sent, first > 1 else { return false }
    let next = open.first { [.ours].contains(roles[$0]) } ?? script.steps.indices.last
    guard let next else { return false }
    let silence = script.steps[next].time.nanoseconds(since: sent.recorded)
    // One and a half times of it is what servers wait (MQTT 5.0 section 3.1.2.10).
    return silence <= Int64(script.keepAlive) * 1_500_000_000
  }
}
