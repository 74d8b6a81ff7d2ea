package import RepriseCore
import Wire

// What the other end does.
extension ReplayedEnd {
  /// What came of what the other end said.
  package enum Taken: Sendable {
    /// It is that of a step.
    case matched(step: Int)
    /// The session need not have it; a ping of MQTT has to be answered.
    case passed(isPing: Bool)
    /// The session has something else.
    case diverged(ReplayDivergence)
  }

  /// Takes what the other end says.
  /// - Parameters:
  ///   - unit: What it says; pings of WebSocket are answered by what carries it.
  ///   - now: The time.
  ///   - tempo: The tempo of the replay.
  /// - Returns: What came of it.
  package mutating func take(
    _ unit: ReplayUnit, at now: Timestamp, by tempo: inout ReplayTempo
  ) -> Taken {
    if unit.packet?.type == .pingreq { return .passed(isPing: true) }
    // A recording that ends before its connection does says nothing of what comes behind it.
    if unit.packet?.type == .pingresp || isDone { return .passed(isPing: false) }
    if let packet = unit.packet {
      guard packet.answered == nil else { return takeAnswer(packet, now, &tempo) }
      if packet.isRepeated, let id = packet.packetID, packetIDs.values.contains(id) {
        return .passed(isPing: false)
      }
    }
    let candidates = candidates(for: unit)
    guard !candidates.isEmpty else { return .diverged(surplus(unit)) }
    return match(unit, candidates, now, &tempo)
  }

  private mutating func match(
    _ unit: ReplayUnit, _ candidates: [Int], _ now: Timestamp, _ tempo: inout ReplayTempo
  ) -> Taken {
    var nearest: (step: Int, differences: [ReplayDifference])?
    for step in candidates {
      let comparison = compare(unit, with: step)
      guard !comparison.differences.isEmpty else {
        return accept(unit, as: step, comparison, now, &tempo)
      }
      let isNearer = nearest.map {
        Self.distance(comparison.differences) < Self.distance($0.differences)
      }
      if isNearer != false { nearest = (step, comparison.differences) }
    }
    guard let nearest else { return .diverged(surplus(unit)) }
    return .diverged(
      other(
        unit, insteadOf: nearest.step, nearest.differences, alternatives: candidates.count - 1))
  }

  private mutating func accept(
    _ unit: ReplayUnit, as step: Int, _ comparison: ReplayComparison, _ now: Timestamp,
    _ tempo: inout ReplayTempo
  ) -> Taken {
    if unit.isFarewell, let divergence = leaves(before: step) { return .diverged(divergence) }
    if let id = unit.packet?.packetID, let recorded = script.steps[step].packet?.packetID {
      packetIDs[step] = id
      identifiers[recorded] = id
    }
    bindings.bind(comparison, at: step, handingOut: first)
    finish(step, at: now, by: &tempo)
    if unit.isFarewell { forget(from: 0, at: now) }
    return .matched(step: step)
  }

  /// The steps that something of the other end may be, in order.
  private func candidates(for unit: ReplayUnit) -> [Int] {
    var steps: [Int] = []
    var current: Int?
    for step in open {
      guard case .theirs(let group) = roles[step] else { continue }
      let recorded = script.steps[step].unit
      if let current {
        // It is not seen what a server waits for before it delivers something.
        let isNear = own == .client ? unit.isMessage : group == current
        guard isNear else { break }
        if own == .client, recorded?.isMessage != true { continue }
      }
      current = current ?? group
      steps.append(step)
      if own == .client, recorded?.isOpening == true { break }
    }
    return steps
  }

  /// What differs between what the other end says and a step.
  func compare(_ unit: ReplayUnit, with step: Int) -> ReplayComparison {
    var comparison = ReplayComparison(settings.options, isAfterBindings: !bindings.isEmpty)
    let recorded = script.steps[step].unit
    switch (recorded, unit) {
    case (.packet(let expected), .packet(let actual)):
      if let expected = expected.decoded, let actual = actual.decoded {
        comparison.compare(expected, actual)
        // What can't be read is the same where its bytes are.
      } else if expected.bytes != actual.bytes {
        comparison.noteOther("\(expected.type.name)", "\(actual.type.name)")
      }
    case (.handshake(let expected), .handshake(let actual)): comparison.compare(expected, actual)
    case (.frame(let expected), .frame(let actual)): comparison.compare(expected, actual)
    default: comparison.noteOther(recorded?.name, unit.name)
    }
    return comparison
  }

  /// How much two packets differ: another kind more than another topic, and that more than another payload.
  private static func distance(_ differences: [ReplayDifference]) -> Int {
    differences.reduce(0) { sum, difference in
      switch difference.place.prefix(5) {
      case "kind", "versi": sum + 1_000_000
      case "topic", "filte", "targe": sum + 1_000
      default: sum + 1
      }
    }
  }

  // MARK: Answers

  private mutating func takeAnswer(
    _ packet: ReplayPacket, _ now: Timestamp, _ tempo: inout ReplayTempo
  ) -> Taken {
    if let step = open.first(where: { isAnswer(packet, at: $0) }) {
      return match(.packet(packet), [step], now, &tempo)
    }
    // That an answer is given is no news where the recording has none, or a repeated one.
    return answersSomething(packet) ? .passed(isPing: false) : .diverged(surplus(.packet(packet)))
  }

  /// Whether a packet is the answer that a step is, by its type and identifier.
  private func isAnswer(_ packet: ReplayPacket, at step: Int) -> Bool {
    guard case .theirAnswer(let cause) = roles[step], let recorded = script.steps[step].packet,
      recorded.type == packet.type, let id = recorded.packetID
    else { return false }
    if let cause, doneTimes[cause] == nil { return false }
    guard packet.type == .pubrel else { return packet.packetID == id }
    return packet.packetID == cause.flatMap(publishID) ?? identifiers[id] ?? packet.packetID
  }

  /// The identifier that the other end gave to the message which our PUBREC answers.
  private func publishID(_ pubrec: Int) -> UInt16? {
    guard case .ourAnswer(let publish) = roles[pubrec] else { return nil }
    return packetIDs[publish]
  }

  private func answersSomething(_ packet: ReplayPacket) -> Bool {
    if packet.type == .pubrel { return packet.packetID.map(packetIDs.values.contains) ?? false }
    return script.steps.indices.contains { step in
      guard script.steps[step].sender == own, doneTimes[step] != nil,
        let sent = script.steps[step].packet
      else { return false }
      return sent.type == packet.answered && sent.packetID == packet.packetID
    }
  }

  // MARK: The end

  /// Takes the end of the connection, which the other end has made.
  /// - Parameters:
  ///   - now: The time.
  ///   - tempo: The tempo of the replay.
  /// - Returns: The divergence where it comes too early; nil where it is right.
  package mutating func takeEnd(
    at now: Timestamp, by tempo: inout ReplayTempo
  ) -> ReplayDivergence? {
    if let divergence = leaves(before: roles.count) { return divergence }
    for step in open { finish(step, at: now, by: &tempo) }
    forget(from: first, at: now)
    return nil
  }

  /// What is missing where the other end leaves.
  private func leaves(before end: Int) -> ReplayDivergence? {
    for step in first..<max(first, end) where doneTimes[step] == nil {
      // A Ping is not waited for.
      guard let unit = script.steps[step].unit, !unit.isPing else { continue }
      switch roles[step] {
      case .theirs, .theirAnswer:
        return missing(step, "the \(own.other.rawValue) ends the connection")
      case .ours: return unsent(step)
      // An end that leaves without an answer can do without it.
      case .ourAnswer, .passing: continue
      }
    }
    return nil
  }
}
