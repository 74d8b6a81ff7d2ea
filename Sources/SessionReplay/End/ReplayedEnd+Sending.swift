package import RepriseCore
import Wire

// What this end does.
extension ReplayedEnd {
  /// What is to be done now.
  package enum Next: Sendable {
    /// Something is said, which stands at a place of the session.
    case send(ReplayUnit, ReplayPlace)
    /// The connection is ended.
    case end(ConnectionClosing.How)
    /// Nothing before this time, unless something comes.
    case wait(until: Timestamp)
    /// Nothing before something comes.
    case nothing
  }

  /// Does what is to be done next.
  /// - Parameters:
  ///   - now: The time.
  ///   - tempo: The tempo of the replay.
  ///   - isFree: Whether a step may happen by what other connections are at.
  /// - Returns: What to do; to be asked again where something was done.
  package mutating func next(
    at now: Timestamp, by tempo: inout ReplayTempo, isFree: (Int) -> Bool
  ) -> Next {
    var soonest: Timestamp?
    var isOrderly = true
    for step in open {
      guard let due = due(step, isOrderly, tempo, isFree) else {
        isOrderly = false
        continue
      }
      if due <= now { return perform(step, now, &tempo) }
      soonest = min(soonest ?? due, due)
      isOrderly = false
    }
    return soonest.map { .wait(until: $0) } ?? .nothing
  }

  /// When a step of ours is due; nil for one of theirs, and for one that something has to come before.
  private func due(
    _ step: Int, _ isOrderly: Bool, _ tempo: ReplayTempo, _ isFree: (Int) -> Bool
  ) -> Timestamp? {
    let recorded = script.steps[step].time
    switch roles[step] {
    case .theirs, .theirAnswer, .passing: return nil
    case .ours: return isOrderly && isFree(step) ? tempo.due(recorded) : nil
    case .ourAnswer(let cause):
      return doneTimes[cause].map {
        tempo.due(recorded, behind: script.steps[cause].time, at: $0)
      }
    }
  }

  private mutating func perform(
    _ step: Int, _ now: Timestamp, _ tempo: inout ReplayTempo
  ) -> Next {
    let recorded = script.steps[step]
    finish(step, at: now, by: &tempo)
    sent = (now, recorded.time)
    switch recorded.content {
    case .end(let how):
      forget(from: step, at: now)
      return .end(how)
    case .said(let unit):
      if unit.isFarewell { forget(from: step, at: now) }
      return .send(made(unit, step), recorded.place)
    }
  }

  /// What we say as the other end has to get it.
  private func made(_ unit: ReplayUnit, _ step: Int) -> ReplayUnit {
    switch unit {
    case .packet(let packet): .packet(made(packet, step))
    case .handshake: unit
    case .frame(let frame): .frame(rewritten(frame, step))
    }
  }

  /// A message with the values that the other end has made anew.
  private func rewritten(_ frame: WebSocketFrame, _ step: Int) -> WebSocketFrame {
    guard !frame.header.opcode.isControl,
      let payload = bindings.rewritten(frame.payload, by: settings.options.roles, at: step)
    else { return frame }
    return WebSocketFrame(frame.header.opcode, payload)
  }

  /// A packet of ours as the other end has to get it: with its own identifiers and the values that it has made anew.
  private func made(_ packet: ReplayPacket, _ step: Int) -> ReplayPacket {
    if packet.type == .publish { return rewritten(packet, step) }
    // A PUBREL has the identifier of our own message.
    guard packet.answered != nil, packet.type != .pubrel, let id = packet.packetID else {
      return packet
    }
    var own = identifiers[id]
    if case .ourAnswer(let cause) = roles[step] { own = packetIDs[cause] }
    return own.map(packet.numbered) ?? packet
  }

  private func rewritten(_ packet: ReplayPacket, _ step: Int) -> ReplayPacket {
    guard !bindings.isEmpty, var decoded = packet.fields,
      case .publish(let publish) = decoded.content,
      let changed = bindings.rewritten(publish, by: settings.options.roles, at: step)
    else { return packet }
    decoded.content = .publish(changed)
    return (try? ReplayPacket(decoded, insteadOf: packet)) ?? packet
  }
}
