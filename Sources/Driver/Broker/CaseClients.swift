import Glibc
import RepriseCore
import Wire

/// The clients of a case, at the broker that is driven by it.
final class CaseClients: CaseWorld {
  private let plan: CasePlan
  private let version: MQTTVersion
  private let index: Int
  private let setting: BrokerSetting
  private let recorder: CaseRecorder
  private var clients: [CaseClient] = []
  private var connections = 0
  private var messages = 0
  /// What the case leaves on the broker, to be taken away.
  private(set) var traces = Traces()

  /// Prepares the clients of a case.
  /// - Parameters:
  ///   - plan: The case.
  ///   - index: The number of the run among all, which names its clients and topics.
  ///   - setting: What all cases of the run have in common.
  ///   - recorder: Keeps what passes.
  init(_ plan: CasePlan, _ index: Int, _ setting: BrokerSetting, _ recorder: CaseRecorder) {
    (self.plan, self.index, self.setting, self.recorder) = (plan, index, setting, recorder)
    version = plan.version ?? .v5_0
  }

  /// The first answer to a CONNECT of the first client.
  var firstAnswer: FirstAnswer {
    if let connack = clients.first?.connack { return .connack(connack) }
    return clients.first?.answeredBeforeDataRanOut.map { .authentication(answered: $0) } ?? .nothing
  }

  // MARK: The driver's turns

  var interests: [pollfd] {
    clients.map { $0.connection?.interest ?? pollfd(fd: -1, events: 0, revents: 0) }
  }

  var wakeTime: Timestamp? { clients.compactMap { $0.connection?.wakeTime }.min() }

  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {
    for (client, file) in zip(clients, events) where file.revents != 0 {
      var answers: [UInt8] = []
      client.connection?.service(file.revents, &buffer, now) { packet in
        answers += client.take(HeardPacket(packet)) ?? []
      }
      if !answers.isEmpty { client.connection?.send(answers, now) }
    }
  }

  func goOn(_ now: Timestamp) {
    for client in clients { client.connection?.goOn(now) }
  }

  func breakOff(_ now: Timestamp) {
    for client in clients { client.connection?.reset(now) }
  }

  func leave(_ now: Timestamp) -> CaseWait {
    for client in clients {
      guard let connection = client.connection, !connection.isOver else { continue }
      if client.isAccepted, !client.hasLeft {
        connection.send([MQTTPacketType.disconnect.rawValue << 4, 0], now)
        client.hasLeft = true
      }
      connection.finish(now)
    }
    return ends(of: clients, now)
  }

  // MARK: Waiting

  private func ends(of clients: [CaseClient], _ now: Timestamp) -> CaseWait {
    CaseWait(until: now.advanced(by: CaseWait.shortWait)) { clients.allSatisfy(\.isGone) }
  }

  /// Waits for the answer that a client is owed, and then for what shows that its connection lives on.
  private func answer(
    to client: CaseClient, _ match: @escaping (HeardPacket) -> Bool, _ now: Timestamp
  ) -> CaseWait {
    CaseWait(
      until: now.advanced(by: CaseWait.patience), proof: { self.ping(client, $0) },
      client.hears(match))
  }

  private func ping(_ client: CaseClient, _ now: Timestamp) -> CaseWait? {
    guard let connection = client.connection, connection.phase == .open, client.isAccepted else {
      return nil
    }
    connection.send([MQTTPacketType.pingreq.rawValue << 4, 0], now)
    return CaseWait(
      until: now.advanced(by: CaseWait.shortWait), client.hears { $0.type == .pingresp })
  }

  // MARK: Names

  private func client(named name: String) -> CaseClient {
    if let known = clients.first(where: { $0.name == name }) { return known }
    let client = CaseClient(
      name, clientID: setting.clientID(of: name, in: index),
      setting.place.credentials.authentication)
    clients.append(client)
    return client
  }

  func value(of name: Substring) -> JSONValue? {
    switch name {
    case "t": return .string(setting.firstLevel + "/" + setting.topicTail(of: plan))
    case "tail": return .string(setting.topicTail(of: plan))
    default: break
    }
    let parts = name.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let client = clients.first(where: { $0.name == parts[0] }) else {
      return parts.count == 2 && parts[1] == "name"
        ? .string(self.client(named: String(parts[0])).clientID) : nil
    }
    switch parts[1] {
    case "id": return .number(String(client.lastID))
    case "name": return .string(client.clientID)
    case "assigned": return .string(client.assignedID)
    default: return nil
    }
  }

  // MARK: Steps

  func perform(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    let client = client(named: step.client)
    switch step.action {
    case .open: return .waiting(try open(client, now))
    // Done again when the connection is there.
    case .connect where !client.isFresh: return .again(try open(client, now))
    case .connect, .subscribe, .unsubscribe, .publish, .fence, .send:
      return try send(step, fields, by: client, now)
    case .bytes:
      try checkIsReached(client)
      client.isFresh = false
      client.connection?.send(try fields.hex(), now)
    case .await: return .waiting(try listen(fields, client, now))
    case .hold: client.held = try fields.types()
    case .disconnect:
      _ = try send(step, fields, by: client, now)
      client.hasLeft = true
      client.connection?.finish(now)
      return .waiting(ends(of: [client], now))
    case .finish:
      client.connection?.finish(now)
      return .waiting(ends(of: [client], now))
    case .reset: client.connection?.reset(now)
    case .accept, .release, .wait, .frame, .message, .close: break
    }
    return .done
  }

  private func open(_ client: CaseClient, _ now: Timestamp) throws(DriverError) -> CaseWait {
    if let connection = client.connection, !connection.isOver { connection.reset(now) }
    connections += 1
    do throws(DataClientError) {
      client.begin(
        try CaseConnection(
          connections, to: setting.place, version, recorder, plan.cut?.chopping, now))
    } catch {
      throw DriverError(
        .unreachable,
        "\(setting.place.name) can't be reached: \(error.message); check whether it runs")
    }
    return CaseWait(until: now.advanced(by: .seconds(10))) {
      client.connection?.phase != .opening
    }
  }

  /// Checks that a connection that was to be opened is there.
  private func checkIsReached(_ client: CaseClient) throws(DriverError) {
    guard client.isFresh else { return }
    let why: String
    switch client.connection?.phase {
    case .opening: why = "no answer in 10 s"
    case .over(let reason?): why = reason
    case .open, .over(nil), nil: return
    }
    throw DriverError(
      .unreachable, "\(setting.place.name) can't be reached: \(why); check whether it runs there")
  }

  /// Sends the packet of a step.
  private func send(
    _ step: CaseStep, _ fields: CaseFields, by client: CaseClient, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    try checkIsReached(client)
    // Also where the server has ended it already: another CONNECT is to have another one.
    client.isFresh = false
    guard let connection = client.connection, connection.phase == .open else { return .done }
    let packet = try StepPacket(step, fields, defaults(client), version)
    traces.note(packet, of: client, version)
    connection.send(packet.bytes, now)
    if packet.type == .disconnect { client.hasLeft = true }
    if packet.type == .auth { client.authenticatesAgain() }
    guard fields["await"]?.bool ?? (step.action != .send),
      let match = packet.ending
    else { return .done }
    return .waiting(answer(to: client, match, now))
  }

  private func defaults(_ client: CaseClient) -> StepPacket.Defaults {
    messages += 1
    return StepPacket.Defaults(
      clientID: client.clientID, credentials: setting.place.credentials,
      payload: "\(plan.name) \(messages)", packetID: client.takeID())
  }

  private func listen(
    _ fields: CaseFields, _ client: CaseClient, _ now: Timestamp
  ) throws(DriverError) -> CaseWait {
    let until = now.advanced(by: try fields.seconds(orElse: 2))
    guard let (type, count) = try fields.awaited() else {
      return CaseWait(until: until) { client.isGone }
    }
    return CaseWait(until: until, client.hears(count: count) { $0.type == type })
  }
}
