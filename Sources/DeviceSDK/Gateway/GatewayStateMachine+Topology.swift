import RepriseCore

/// What the cloud knows of the gateway's sub-devices: topology, discoveries and registrations.
extension GatewayStateMachine {
  mutating func getTopology(_ id: CallID) {
    guard isConnected(for: id) else { return }
    askForTopology(for: id)
  }

  /// Asks for the topology after a new connection, as it may have changed meanwhile.
  mutating func syncTopology() {
    guard configuration.syncsTopology, !lines.isEmpty else { return }
    askForTopology(for: nil)
  }

  private mutating func askForTopology(for id: CallID?) {
    let unchanged = lines.mapValues(\.changes)
    let request = request(
      topics.getTopology, .thing(method: "thing.topo.get"), [:],
      for: .topology(id, unchanged: unchanged))
    if let id, requests[request] != nil { calls[id] = .requesting(request) }
  }

  /// The cloud has told the topology: lines that have not changed since are brought up to it.
  mutating func noteTopology(
    _ result: Result<GatewayReply, GatewayError>, _ id: CallID?, _ unchanged: [Subdevice: Int]
  ) {
    switch result {
    case .failure(let error):
      if let id { fail(id, error) }
    case .success(let reply):
      let known = Self.subdevices(reply.data)
      for (subdevice, changes) in unchanged.sorted(by: { $0.key < $1.key })
      where lines[subdevice]?.changes == changes {
        let isOnline = lines[subdevice]?.state == .online
        if known.contains(subdevice) {
          apply(.topologyAdded, to: subdevice)
        } else if !isOnline, lines[subdevice]?.state == .topology {
          apply(.topologyLost, to: subdevice, error: CloudCode.error(6_401, ""))
        }
      }
      if let id { complete(id, .subdevices(known)) }
    }
  }

  /// Reads a list of sub-devices; what is none is left out.
  static func subdevices(_ value: JSONValue?) -> [Subdevice] {
    guard case .array(let elements)? = value else { return [] }
    return elements.compactMap { Subdevice($0) }
  }

  mutating func reportFound(_ subdevices: [Subdevice], _ id: CallID) {
    split(
      subdevices, into: configuration.limits.topologyPerRequest, topics.found, "thing.list.found",
      id
    ) { $0.json }
  }

  // MARK: Registering

  mutating func register(_ registrations: [SubdeviceRegistration], _ id: CallID) {
    if let wrong = registrations.first(where: { !$0.canStandInTopic }) {
      return fail(
        id,
        GatewayError(
          .client, "a productKey or deviceName is empty or holds one of / + # &: \(wrong)"))
    }
    split(
      registrations, into: configuration.limits.registrationsPerRequest, topics.register,
      "thing.sub.register", id, registers: true
    ) { $0.json }
  }

  mutating func unregister(_ subdevices: [Subdevice], _ id: CallID) {
    split(
      subdevices, into: configuration.limits.registrationsPerRequest, topics.unregister,
      "thing.sub.unregister", id
    ) { $0.json }
  }

  static func registered(_ reply: GatewayReply) -> [RegisteredSubdevice] {
    guard case .array(let elements)? = reply.data else { return [] }
    return elements.map { RegisteredSubdevice($0) }
  }

  /// Sends as many requests as it takes for all elements.
  private mutating func split<Element>(
    _ elements: [Element], into size: Int, _ topic: String, _ method: String, _ id: CallID,
    registers: Bool = false, _ json: (Element) -> JSONValue
  ) {
    guard isConnected(for: id) else { return }
    let parts = stride(from: 0, to: elements.count, by: size).map {
      elements[$0..<min($0 + size, elements.count)].map(json)
    }
    let call = Parts(left: parts.count, registers: registers)
    guard !parts.isEmpty else { return complete(id, call.value) }
    calls[id] = .parts(call)
    for (index, part) in parts.enumerated() {
      request(
        topic, .thing(method: method), .array(part), for: .part(id, index: index))
    }
  }
}

extension SubdeviceRegistration {
  fileprivate var canStandInTopic: Bool {
    Subdevice.canStandInTopic(productKey)
      && deviceName.map { Subdevice.canStandInTopic($0) } ?? true
  }

  fileprivate var json: JSONValue {
    let name = deviceName.map { [JSONMember("deviceName", .string($0))] } ?? []
    return .object([JSONMember("productKey", .string(productKey))] + name)
  }
}
