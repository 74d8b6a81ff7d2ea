import RepriseCore

@testable import DeviceSDK

/// What a wrong gateway does with what the right one wants done.
extension WrongGateway {
  mutating func spoil(_ output: Output, of input: Input, _ now: Timestamp) -> [Output] {
    switch output {
    case .perform(let action): spoil(action, of: input, now)
    case .tell(let effect): spoil(effect, of: input)
    case .complete(let id, .failure(let error)): spoil(id, error, of: input)
    case .complete: [output]
    }
  }

  private mutating func spoil(
    _ action: ClientAction, of input: Input, _ now: Timestamp
  ) -> [Output] {
    let output = Output.perform(action)
    switch action.kind {
    case .publish(let message): return spoil(message, action, now)
    case .subscribe(let wanted): return spoil(wanted, action, of: input, now)
    case .connect, .unsubscribe, .send, .sendText, .sendBinary, .disconnect: return [output]
    }
  }

  private mutating func spoil(
    _ wanted: [Subscription], _ action: ClientAction, of input: Input, _ now: Timestamp
  ) -> [Output] {
    let output = Output.perform(action)
    let granted = ClientEvent.subscribed(action.id, wanted.map { $0.qos })
    switch defect {
    case .listensToNothing:
      guard case .received(.connected) = input else { return [output] }
      return machine.handle(.received(granted), now: now)
    case .commandsAreNotSubscribed:
      guard wanted.contains(where: { $0.filter.hasSuffix("/service/#") }) else { return [output] }
      return machine.handle(.received(granted), now: now)
    case .publishesBeforeTheSuback:
      guard wanted.allSatisfy({ $0.filter.hasSuffix("_reply") }) else { return [output] }
      return [output] + machine.handle(.received(granted), now: now)
    case .topologyIsNotAskedFor:
      return wanted.contains { $0.filter.hasSuffix("/topo/get_reply") } ? [] : [output]
    default: return [output]
    }
  }

  private mutating func spoil(
    _ message: Message, _ action: ClientAction, _ now: Timestamp
  ) -> [Output] {
    var message = message
    let topic = message.topic
    switch defect {
    case .nobodyComesBack:
      if topic.hasSuffix("/combine/login"), notes.connections > 1 { return [] }
    case .sessionsAreSentWithReceipts:
      if topic.hasPrefix("/ext/session/") { message.qos = .atLeastOnce }
    case .topologyKeyIsTheLogins:
      message.payload = Array(
        String(decoding: message.payload, as: UTF8.self)
          .replacing("signmethod", with: "signMethod").utf8)
    case .changesAreNotAnswered: if topic.hasSuffix("/topo/change_reply") { return [] }
    case .disablingIsNotAnswered: if topic.hasSuffix("/disable_reply") { return [] }
    case .wishesAreAnsweredByAnotherID:
      if topic.hasSuffix("/notify_reply") { message.payload = [UInt8](#"{"id":"0"}"#.utf8) }
    case .answersHaveTextIDs:
      guard topic.hasSuffix("_reply"),
        case .object(var members) = JSONValue(parsing: message.payload),
        let index = members.firstIndex(where: { $0.key == "id" }),
        case .number(let id) = members[index].value
      else { break }
      members[index].value = .string(id)
      message.payload = JSONValue.object(members).utf8
    default: break
    }
    return [.perform(ClientAction(action.id, .publish(message)))]
  }

  private func spoil(_ effect: Effect, of input: Input) -> [Output] {
    switch (defect, effect) {
    case (.neverGivesUpOpening, .giveUpOpening): return []
    case (.opensNobody, .openConnection): return []
    case (.oldConnectionsAreKept, .forgetConnection): return []
    case (.deletedTopologyStays, .changeLine(let change)):
      return change.state == .ready && notes.online.contains(change.subdevice)
        ? [] : [.tell(effect)]
    case (.linesStayOnline, .changeLine(let change)):
      guard case .received(.closed) = input, change.error != nil else { return [.tell(effect)] }
      return []
    case (.linesGetEverything, .deliver(let message)):
      guard let line = machine.subdevices.first else { return [.tell(effect)] }
      return [
        .tell(.deliver(GatewayMessage(subdevice: line, message: message.message)))
      ]
    case (.waitsForEverToBeConnected, .changeState(let change)):
      guard change.state == .connected, case .received(.deadline) = input else {
        return [.tell(effect)]
      }
      return []
    default: return [.tell(effect)]
    }
  }

  private func spoil(_ id: CallID, _ error: GatewayError, of input: Input) -> [Output] {
    var error = error
    switch (defect, input) {
    case (.errorsHaveAnotherClass, _): if error.kind == .subdevice { error.kind = .business }
    case (.lostConnectionsLeaveCallsOpen, .received(.closed)): return []
    case (.sendsWithoutAConnection, .called(_, .publish)) where notes.connections == 0:
      return [.perform(ClientAction(Self.extra, .publish(Message(topic: "/a", payload: []))))]
    default: break
    }
    return [.complete(id, .failure(error))]
  }

  // MARK: What comes on top

  /// What the defect does of its own.
  mutating func afterwards(_ input: Input, _ outputs: [Output], _ now: Timestamp) -> [Output] {
    switch (defect, input) {
    case (.opensASecondConnection, .called(_, .start)):
      guard let connect = notes.connect, outputs.isEmpty else { return [] }
      return [.perform(ClientAction(Self.extra, connect))]
    case (.alwaysWaitsOneSecond, .received(.closed)):
      // As long as the machine would wait longer, it is told that more time has passed.
      guard let deadline = machine.deadline else { return [] }
      notes.shift += max(0, deadline.nanoseconds - now.nanoseconds - 1_000_000_000)
      return []
    case (.everyLoginIsSent, .called(_, .operate(.logIn, let subdevices, false))):
      guard outputs.isEmpty, let first = subdevices.first else { return [] }
      return [publish("/ext/session/\(first)/combine/login")]
    case (.repeatsPosts, .received(.message(let message))):
      guard message.topic.hasSuffix("post_reply"), let last = notes.posts.last else { return [] }
      return [.perform(ClientAction(Self.extra, last))]
    case (.isConnectedBeforeTheyAreBack, .received(.connected)):
      guard notes.connections > 1, let connected = notes.connected else { return [] }
      return [.tell(connected)]
    case (.kickedComeBack, _), (.stopForgetsNothing, _):
      let isConnected = outputs.contains { output in
        if case .tell(.changeState(let change)) = output {
          change.state == .connected
        } else {
          false
        }
      }
      return isConnected && notes.connections > 1 ? bringBack(now) : []
    default: return []
    }
  }

  /// Logs in again who was online at any time.
  private mutating func bringBack(_ now: Timestamp) -> [Output] {
    let offline = notes.online.filter { machine.lineState(of: $0) != .online }.sorted()
    // Once each, so that a login that is refused is not tried for ever.
    notes.online.subtract(offline)
    guard !offline.isEmpty else { return [] }
    return machine.handle(
      .called(Self.madeUp, .operate(.logIn, offline, isBatch: true)), now: now)
  }

  private func publish(_ topic: String) -> Output {
    .perform(ClientAction(Self.extra, .publish(Message(topic: topic, payload: []))))
  }
}
