import RepriseCore

/// What gateways send, and what they are told.
extension CloudMachine {
  mutating func receiveFromGateway(_ message: Message, _ now: Timestamp) {
    guard gateways != nil, let request = GatewayRequest(message) else { return }
    let before = gateways?.sessions ?? [:]
    answer(request, topic: message.topic, now)
    let after = gateways?.sessions ?? [:]
    for (schedule, filter) in gateways?.schedules ?? [] {
      let device = schedule.push.subdevice
      let isOccasion =
        filter?.matches(message.topic) ?? (before[device] == nil && after[device] != nil)
      if isOccasion { plan(.tell(schedule.push), at: now.advanced(by: schedule.delay)) }
    }
  }

  private mutating func answer(_ request: GatewayRequest, topic: String, _ now: Timestamp) {
    let rule = takeRule(topic)
    // What is refused changes nothing.
    let response: GatewayCloud.Response
    if let code = rule?.code, !CloudAnswer.isSuccess(code) {
      response = .reply(.failure(code))
    } else {
      response = gateways?.respond(to: request, now: now) ?? .nothing
    }
    let faults = rule?.faults ?? []
    let time = now.advanced(by: rule?.delay ?? .zero)
    guard !faults.contains(.noReply) else { return }
    guard !faults.contains(.dropConnection) else {
      gateways?.endSessions(of: request.device)
      return plan(.output(.dropPublisher(of: topic)), at: time)
    }
    let envelope = CloudRequest(
      device: request.device, path: topic, id: request.id, params: request.params)
    switch response {
    case .nothing: break
    case .sessionError(let error, let gateway):
      let message = GatewayCloud.sessionError(error, id: request.id, request.device, gateway)
      plan(.output(.publish(message)), at: time)
    case .reply(var answer):
      if let rule { answer.apply(rule) }
      let reply = Message(
        topic: topic + (faults.contains(.wrongTopic) ? "" : "_reply"),
        payload: answer.payload(to: envelope, faults: faults), qos: .atLeastOnce)
      plan(.output(.publish(reply)), at: time)
      if faults.contains(.duplicate) { plan(.output(.publish(reply)), at: time) }
    }
  }
}
