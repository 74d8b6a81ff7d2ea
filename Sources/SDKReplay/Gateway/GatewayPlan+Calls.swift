package import DeviceSDK
import RepriseCore

/// The calls of an application that has a gateway.
extension GatewayPlan {
  /// A call of the gateway.
  package typealias Call = GatewayStateMachine.Call

  /// Returns what the app called when its client did something that the gateway does not do by itself.
  package func calls(
    for ordinal: Int, on machine: GatewayStateMachine, _ ending: Ending
  ) -> [Call] {
    guard recorded.session.actions.indices.contains(ordinal) else { return [] }
    switch recorded.session.actions[ordinal].kind {
    case .connect: return [.start]
    case .disconnect: return [.stop]
    case .subscribe(let wanted):
      guard let filter = wanted.first?.filter else { return [] }
      if wanted.count == 2, wanted.last?.filter == machine.endOfSweep {
        return [.findRetained(FullTopic(unchecked: filter))]
      }
      guard wanted.count == 1 else { return [] }
      return subscription(filter, ordinal, machine, ending)
    case .unsubscribe(let filters): return unsubscription(filters, machine)
    case .publish(let message): return publication(message, ordinal, machine, ending)
    case .send, .sendText, .sendBinary: return []
    }
  }

  /// Returns the plain call that sends an action just as it is, where the one that is meant sends nothing.
  package func plainCalls(for ordinal: Int) -> [Call] {
    guard recorded.session.actions.indices.contains(ordinal) else { return [] }
    switch recorded.session.actions[ordinal].kind {
    case .publish(let message):
      return [Self.upload(message)]
    case .subscribe(let wanted):
      guard wanted.count == 1, let filter = wanted.first?.filter else { return [] }
      return [.subscribe(FullTopic(unchecked: filter), for: nil)]
    case .connect, .unsubscribe, .send, .sendText, .sendBinary, .disconnect: return []
    }
  }

  // MARK: Subscribing

  /// A subscription to a reply topic is the beginning of a request.
  private func subscription(
    _ filter: String, _ ordinal: Int, _ machine: GatewayStateMachine, _ ending: Ending
  ) -> [Call] {
    if filter.hasSuffix("_reply"),
      let number = recorded.publication(on: String(filter.dropLast(6)), after: ordinal),
      case .publish(let message) = recorded.session.actions[number].kind
    {
      let calls = publication(message, number, machine, ending)
      if calls.last?.subscribesToReply == true { return calls }
    }
    let time = recorded.session.actions[ordinal].place.time
    // It is the line's that its filter names, unless it comes back with the connection.
    let device = recorded.isRestored(filter, after: ordinal) ? nil : subdevice(of: filter, machine)
    return lines(for: device, machine, time) + [
      .subscribe(FullTopic(unchecked: filter), for: device)
    ]
  }

  /// The sub-device that a topic names, if it has a line, or will have one in the session.
  private func subdevice(of topic: String, _ machine: GatewayStateMachine) -> Subdevice? {
    guard let device = GatewayTopic(topic)?.device, device != recorded.device,
      machine.lineState(of: device) != nil || recorded.connections[device] != nil
    else { return nil }
    return device
  }

  private func lines(
    for subdevice: Subdevice?, _ machine: GatewayStateMachine, _ time: Timestamp
  ) -> [Call] {
    setUp(subdevice.map { [$0] } ?? [], machine, time)
  }

  /// What belongs to one line alone goes with it.
  private func unsubscription(_ filters: [String], _ machine: GatewayStateMachine) -> [Call] {
    let devices = Set(filters.compactMap { GatewayTopic($0)?.device })
    if devices.count == 1, let device = devices.first, machine.lineState(of: device) != nil,
      filters.count > 1 || filters.contains(where: { GatewayTopic($0)?.isForCommands == true })
    {
      return [.remove(device)]
    }
    guard filters.count == 1, let filter = filters.first else { return [] }
    let device = devices.first.flatMap { machine.lineState(of: $0) == nil ? nil : $0 }
    return [.unsubscribe(FullTopic(unchecked: filter), for: device)]
  }

  // MARK: Sending

  private static func upload(_ message: Message) -> Call {
    .upload(
      FullTopic(unchecked: message.topic), message.payload, message.qos,
      isRetained: message.isRetained)
  }

  private func publication(
    _ message: Message, _ number: Int, _ machine: GatewayStateMachine, _ ending: Ending
  ) -> [Call] {
    let upload = Self.upload(message)
    if message.topic.hasSuffix("_reply") {
      return [answer(message, ending) ?? upload]
    }
    guard let request = RecordedGatewayRequest(message.payload),
      let place = GatewayTopic(message.topic)
    else { return [upload] }
    let time = recorded.session.actions[number].place.time
    if place.device == recorded.device, recorded.awaited.contains(number),
      let calls = ownCalls(place, request, machine, time)
    {
      return calls
    }
    let line = subdevice(of: message.topic, machine)
    let first = lines(for: line, machine, time)
    let topic = FullTopic(unchecked: message.topic)
    if request.isOfSession, place.path.hasPrefix("combine/"), message.qos == .atMostOnce {
      return first + [.invoke(.init(topic, params: request.params, for: line))]
    }
    guard request.isOfThing, message.qos == configuration.publishQoS,
      request.method != nil || !place.path.hasPrefix("thing/")
    else { return [upload] }
    guard recorded.awaited.contains(number) else {
      return first + [
        .publish(
          topic, method: request.method, request.params, isRetained: message.isRetained)
      ]
    }
    return first + [
      .invoke(.init(topic, method: request.method, params: request.params, for: line))
    ]
  }

  /// What a request of the gateway itself is the work of; nil when it is one like any other.
  private func ownCalls(
    _ place: GatewayTopic, _ request: RecordedGatewayRequest, _ machine: GatewayStateMachine,
    _ time: Timestamp
  ) -> [Call]? {
    let elements = request.elements
    let subdevices = elements.map(\.subdevice)
    if let kind = place.lineCall {
      guard !subdevices.isEmpty else { return nil }
      // A sub-device that is online already is not logged in again.
      let isOnline = subdevices.allSatisfy { machine.lineState(of: $0) == .online }
      guard kind != .logIn || !isOnline else { return nil }
      return setUp(subdevices, machine, time) + [
        .operate(kind, subdevices, isBatch: place.path.hasPrefix("combine/batch_"))
      ]
    }
    switch place.path {
    case "thing/topo/get": return [.topology]
    case "thing/list/found": return [.reportFound(subdevices)]
    case "thing/sub/unregister": return [.unregister(subdevices)]
    case "thing/sub/register":
      guard case .array(let values) = request.params else { return nil }
      let registrations = values.compactMap { value -> SubdeviceRegistration? in
        guard let key = value["productKey"]?.text else { return nil }
        return SubdeviceRegistration(productKey: key, deviceName: value["deviceName"]?.text)
      }
      return [.register(registrations)]
    default: return nil
    }
  }

  /// Lines for those sub-devices that have none.
  private func setUp(
    _ subdevices: [Subdevice], _ machine: GatewayStateMachine, _ time: Timestamp
  ) -> [Call] {
    subdevices.filter { machine.lineState(of: $0) == nil }.flatMap { subdevice -> [Call] in
      guard let id = recorded.connections[subdevice],
        let info = recorded.info(of: subdevice, at: time)
      else { return [] }
      return [.setUp(id), .noteOpened(id, .success(info))]
    }
  }

  /// The answer to a command, if it is written as a gateway does.
  private func answer(_ message: Message, _ ending: Ending) -> Call? {
    guard message.qos == configuration.publishQoS,
      case .object(let members)? = JSONValue(parsing: message.payload),
      Set(members.map(\.key)).subtracting(["message"]) == ["id", "code", "data"],
      case .number(let digits)? = members.last(where: { $0.key == "code" })?.value,
      let code = Int(digits), let data = members.last(where: { $0.key == "data" })?.value,
      let id = members.last(where: { $0.key == "id" })?.value,
      let command = ending.commands.last(where: {
        $0.topic + "_reply" == message.topic && $0.id == id
      })
    else { return nil }
    let text = members.last { $0.key == "message" }?.value.text
    return .answer(command, code: code, message: text, data)
  }
}

extension GatewayStateMachine.Call {
  /// Whether it is a request that waits for a reply.
  fileprivate var subscribesToReply: Bool {
    switch self {
    case .operate, .topology, .reportFound, .register, .unregister, .invoke: true
    case .start, .stop, .setReachable, .setUp, .noteOpened, .remove, .publish, .upload,
      .findRetained, .subscribe, .unsubscribe, .answer:
      false
    }
  }
}
