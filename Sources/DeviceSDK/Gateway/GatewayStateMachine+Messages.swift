import RepriseCore

/// What comes down: replies, errors of sessions, commands, notices, and the rest.
extension GatewayStateMachine {
  mutating func receive(_ message: Message) {
    counted.messages &+= 1
    keeper.noteSignOfLife()
    if takeReply(message) { return }
    if !sweeps.isEmpty, takeRetained(message) { return }
    guard let topic = GatewayTopic(message.topic) else { return deliver(message, nil) }
    switch topic.kind {
    case .sessionError: receiveSessionError(message, topic.device)
    case .thing(let path) where topic.device == topics.gateway:
      deliver(message, nil)
      receiveNotice(message, path)
    case .thing(let path):
      guard !isOwnAnswer(path) else { return }
      deliver(message, topic.device)
      receiveCommand(message, topic.device, path)
    case .other: deliver(message, topic.device)
    }
  }

  private mutating func deliver(_ message: Message, _ device: Subdevice?) {
    let subdevice = device.flatMap { lines[$0] == nil ? nil : $0 }
    tell(
      .deliver(
        GatewayMessage(
          subdevice: subdevice, message: ChannelMessage(message, prefixLength: 0, time: time))))
  }

  /// A broker that knows nothing of directions sends answers back to who listens to all services.
  private func isOwnAnswer(_ path: String) -> Bool {
    path.hasPrefix("service/") && path.hasSuffix("_reply")
  }

  // MARK: Errors of sessions

  private mutating func receiveSessionError(_ message: Message, _ device: Subdevice) {
    guard let envelope = SessionError(message.payload) else {
      log(.warning, .call, "what came on \(message.topic) is no error of a session")
      return deliver(message, device)
    }
    let named = device == topics.gateway ? envelope.subdevices : [device]
    if let id = envelope.id.flatMap({ replies.request($0) }), let request = requests[id],
      named.isEmpty || !Set(named).isDisjoint(with: request.subdevices)
    {
      // Which of several it is about, the error itself says.
      for subdevice in named where request.subdevices.count > 1 {
        applyCode(envelope.code, envelope.message, to: subdevice)
      }
      return refuse(id, request, envelope.code, envelope.message)
    }
    for subdevice in named { applyCode(envelope.code, envelope.message, to: subdevice) }
    for subdevice in named.isEmpty ? [nil] : named.map(Optional.some) {
      tell(
        .notice(
          .sessionError(code: envelope.code, message: envelope.message, subdevice)))
    }
  }

  // MARK: Notices to the gateway

  private mutating func receiveNotice(_ message: Message, _ path: String) {
    guard path == "topo/change" || path == "topo/add/notify" else { return }
    guard let object = JSONValue(parsing: message.payload) else {
      return log(.warning, .call, "what came on \(message.topic) is no JSON")
    }
    let params = object["params"] ?? object
    if path == "topo/change" {
      guard let status = params["status"]?.lenientInteger else {
        return log(.warning, .call, "a change of the topology has no status")
      }
      note(TopologyChange(rawValue: status), of: Self.subdevices(params["subList"]))
    } else {
      tell(.notice(.shouldAdd(Self.subdevices(params))))
    }
    answer(object, on: message.topic)
  }

  private mutating func note(_ change: TopologyChange, of subdevices: [Subdevice]) {
    for subdevice in subdevices {
      switch change {
      case .created: apply(.topologyAdded, to: subdevice)
      case .deleted:
        apply(.topologyLost, to: subdevice, error: CloudCode.error(6_401, "topology deleted"))
      case .enabled: setDisabled(false, subdevice)
      case .disabled: setDisabled(true, subdevice)
      default: break
      }
    }
    tell(.notice(.topologyChanged(change, subdevices)))
  }

  /// Answers for the gateway: it has taken note.
  private mutating func answer(_ object: JSONValue, on topic: String) {
    guard let id = object["id"], id.identifier != nil else { return }
    let payload = GatewayEnvelope.answer(id: id, code: 200, message: "success", data: [:])
    perform(
      .publish(
        Message(topic: topic + "_reply", payload: payload, qos: configuration.publishQoS)),
      for: .nothing)
  }

  // MARK: Commands to sub-devices

  private mutating func receiveCommand(
    _ message: Message, _ subdevice: Subdevice, _ path: String
  ) {
    guard lines[subdevice] != nil, let kind = GatewayCommand.Kind(path: path) else { return }
    guard let object = JSONValue(parsing: message.payload), let id = object["id"],
      id.identifier != nil
    else { return log(.warning, .call, "what came on \(message.topic) is no command") }
    let command = GatewayCommand(
      subdevice: subdevice, kind: kind, id: id, params: object["params"] ?? [:],
      topic: message.topic, time: time)
    switch kind {
    case .setProperties, .getProperties, .service: break
    case .disable: setDisabled(true, subdevice)
    case .enable: setDisabled(false, subdevice)
    case .delete:
      apply(.topologyLost, to: subdevice, error: CloudCode.error(521, "deleted in the cloud"))
    }
    tell(.command(command))
    if !command.needsAnswer { answer(object, on: message.topic) }
  }
}

/// What the cloud says of a session: to a request that it does not answer, or unasked.
struct SessionError {
  /// The identifier of a request, if it is about one.
  let id: String?
  let code: Int
  let message: String
  /// The sub-devices that it names.
  let subdevices: [Subdevice]

  /// Reads an error; nil when the payload has no code.
  init?(_ payload: [UInt8]) {
    guard let object = JSONValue(parsing: payload), let code = object["code"]?.lenientInteger
    else { return nil }
    id = object["id"]?.identifier
    self.code = code
    message = object["message"]?.text ?? ""
    if case .array(let elements)? = object["data"] {
      subdevices = elements.compactMap { Subdevice($0) }
    } else {
      subdevices = Subdevice(object["data"]).map { [$0] } ?? []
    }
  }
}
