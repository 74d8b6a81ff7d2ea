import RepriseCore
import Wire

/// What the steps of a connection are to the end of it that is played: what they wait for, and what they may come before.
struct StepRoles: Sendable {
  /// What a step is.
  enum Role: Sendable, Hashable {
    /// Ours, to be done when all before it is.
    case ours
    /// Ours, an answer to a step of the other end, after which it may come whatever else is open.
    case ourAnswer(to: Int)
    /// The other end's, in a group of steps that nothing of ours separates.
    case theirs(group: Int)
    /// The other end's, an answer to a step of ours; nil where that is not on this connection.
    case theirAnswer(to: Int?)
    /// Neither sent nor waited for: pings are answered as they come, and what has come need not come again.
    case passing
  }

  private(set) var roles: [Role] = []
  private let own: Peer
  private var group = 0
  /// The last packet of each kind by its identifier, for what answers it.
  private var requests: [Request: Int] = [:]
  /// What the other end has asked for and has no answer to.
  private var underWay: Set<UInt16> = []
  /// The last message of the other end by the identifiers in it, for those of ours that have the same.
  private var asked: [String: Int] = [:]
  /// Where identifiers stand in messages.
  private let names: ReplayRoles

  private struct Request: Hashable {
    let sender: Peer
    let type: MQTTPacketType
    let packetID: UInt16
  }

  /// Finds out what the steps of a connection are.
  /// - Parameters:
  ///   - script: The connection.
  ///   - own: The end that is played.
  ///   - names: Where identifiers stand in messages of WebSocket.
  init(_ script: ConnectionScript, playing own: Peer, _ names: ReplayRoles) {
    (self.own, self.names) = (own, names)
    roles.reserveCapacity(script.steps.count)
    for (index, step) in script.steps.enumerated() {
      switch step.unit {
      case .packet(let packet): roles.append(role(of: packet, step.sender, index))
      case .handshake: roles.append(roleAlone(step.sender))
      case .frame(let frame): roles.append(role(of: frame, step.sender, index))
      case nil: roles.append(roleOfEnd(step.sender))
      }
    }
  }

  // MARK: WebSocket

  /// The role of what nothing comes before, and what follows waits for.
  private mutating func roleAlone(_ sender: Peer) -> Role {
    group += 1
    defer { group += 1 }
    return sender == own ? .ours : .theirs(group: group)
  }

  private mutating func role(of frame: WebSocketFrame, _ sender: Peer, _ index: Int) -> Role {
    switch frame.header.opcode {
    // Pings separate nothing; those of the other end come when it likes.
    case .ping: return sender == own ? .ours : .passing
    case .close: return roleAlone(sender)
    default: break
    }
    let identifiers = names.identifiers(in: frame.payload)
    guard sender == own else {
      for identifier in identifiers { asked[identifier] = index }
      return .theirs(group: group)
    }
    group += 1
    let question = identifiers.compactMap { asked.removeValue(forKey: $0) }.max()
    return question.map { .ourAnswer(to: $0) } ?? .ours
  }

  // MARK: MQTT

  private mutating func roleOfEnd(_ sender: Peer) -> Role {
    guard sender == own else {
      group += 1
      return .theirs(group: group)
    }
    return .ours
  }

  private mutating func role(of packet: ReplayPacket, _ sender: Peer, _ index: Int) -> Role {
    if packet.type == .pingresp || packet.type == .pingreq && sender != own { return .passing }
    let isRepeated =
      packet.isRepeated
      && packet.packetID.map {
        requests[.init(sender: sender, type: .publish, packetID: $0)] != nil
      }
        == true
    if isRepeated, sender != own { return .passing }
    let answered = packet.answered.flatMap { type in
      packet.packetID.flatMap {
        requests[Request(sender: sender.other, type: type, packetID: $0)]
      }
    }
    if let id = packet.packetID {
      requests[Request(sender: sender, type: packet.type, packetID: id)] = index
    }
    return sender == own ? ours(packet, answered) : theirs(packet, answered)
  }

  private mutating func ours(_ packet: ReplayPacket, _ answered: Int?) -> Role {
    if let answered {
      if packet.endsExchange, let id = packet.packetID { underWay.remove(id) }
      // A client without an answer to something else waited for no answer at all; subscriptions are of several calls.
      let separates = [.puback, .pubcomp].contains(packet.type) && underWay.isEmpty
      if separates { group += 1 }
      return .ourAnswer(to: answered)
    }
    group += 1
    return .ours
  }

  private mutating func theirs(_ packet: ReplayPacket, _ answered: Int?) -> Role {
    if packet.answered != nil { return .theirAnswer(to: answered) }
    if packet.asksForAnswer, let id = packet.packetID { underWay.insert(id) }
    // Nothing comes before a connection's beginning, nor behind its end.
    let isAlone = [.connect, .connack, .disconnect].contains(packet.type)
    if isAlone { group += 1 }
    defer { if isAlone { group += 1 } }
    return .theirs(group: group)
  }
}
