import Glibc
import LiveClient
import RepriseCore
import Wire

/// A case while it is run: its clients, its recording, and the step that it is at.
///
/// Everything in it happens on the driver's thread, and nothing waits: a step that has to is gone on with when what it
/// waits for has come, or its time is over. That something did not come is no failure of the case: the clauses say
/// what it means.
final class CaseRun {
  let plan: CasePlan
  /// The number of the run among all, which names its clients and topics.
  let index: Int
  let recorder: CaseRecorder
  private let setting: CaseSetting
  private(set) var clients: [CaseClient] = []
  private var position = 0
  private var wait: CaseWait?
  private var connections = 0
  private var messages = 0
  /// When it has taken too long.
  private let end: Timestamp
  /// What stands in the way of its steps; nil as long as nothing does.
  private(set) var trouble: DriverError?
  /// Whether its time was over before its steps were.
  private(set) var isLate = false
  private(set) var isOver = false
  /// What it leaves on the broker, to be taken away.
  private(set) var traces = Traces()
  private var isEnding = false

  /// How long an answer that is due is waited for: after 30 s of a connection that lives, clauses take it for missing.
  static let patience: Duration = .seconds(31)
  /// How long something is waited for that need not come.
  static let shortWait: Duration = .seconds(2)

  init(_ plan: CasePlan, _ index: Int, _ setting: CaseSetting, at now: Timestamp) {
    self.plan = plan
    self.index = index
    self.setting = setting
    end = now.advanced(by: .seconds(plan.driven.seconds))
    recorder = CaseRecorder(
      by: setting.application,
      ["case \(plan.name): \(plan.driven.title)", "of \(setting.place.name)"]
        + (plan.shownValues.isEmpty ? [] : [plan.shownValues]), at: now)
  }

  // MARK: The driver's turns

  /// The sockets to wait for, in the order of the clients.
  var interests: [pollfd] {
    clients.map { $0.connection?.interest ?? pollfd(fd: -1, events: 0, revents: 0) }
  }

  /// When there is something to do, whatever comes until then.
  var deadline: Timestamp {
    (clients.compactMap { $0.connection?.wakeTime } + [wait?.until].compactMap(\.self))
      .reduce(end, min)
  }

  /// Does what sockets are ready for, and goes on as far as it can.
  /// - Parameters:
  ///   - events: What `poll` said of each client.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {
    for (client, file) in zip(clients, events) where file.revents != 0 {
      var answers: [UInt8] = []
      client.connection?.service(file.revents, &buffer, now) { packet in
        answers += client.take(packet) ?? []
      }
      if !answers.isEmpty { client.connection?.send(answers, now) }
    }
    advance(now)
  }

  /// Goes on as far as it can.
  func advance(_ now: Timestamp) {
    for client in clients { client.connection?.goOn(now) }
    while !isOver {
      if let wait {
        guard isDone(wait, now) || now >= end else { return }
        self.wait = nil
      }
      // Whoever is left then does not go of itself.
      if isEnding { return breakOff(now) }
      if now >= end {
        isLate = true
        return breakOff(now)
      }
      guard position < plan.steps.count else {
        beginEnding(now)
        continue
      }
      let step = plan.steps[position]
      position += 1
      do throws(DriverError) { try perform(step, now) } catch {
        trouble = error
        breakOff(now)
      }
      if recorder.isFull {
        trouble = DriverError(.refused, "the broker said more than \(CaseRecorder.limit >> 20) MiB")
        breakOff(now)
      }
    }
  }

  /// Breaks everything off.
  func breakOff(_ now: Timestamp) {
    for client in clients { client.connection?.reset(now) }
    (isEnding, isOver, wait) = (true, true, nil)
  }

  /// Has all clients leave in good order that are still there.
  private func beginEnding(_ now: Timestamp) {
    isEnding = true
    for client in clients {
      guard let connection = client.connection, !connection.isOver else { continue }
      if client.isAccepted, !client.hasLeft {
        connection.send([MQTTPacketType.disconnect.rawValue << 4, 0], now)
        client.hasLeft = true
      }
      connection.finish(now)
    }
    wait = CaseWait(.ends(of: clients), until: now.advanced(by: Self.shortWait))
  }

  // MARK: Waiting

  private func isDone(_ wait: CaseWait, _ now: Timestamp) -> Bool {
    if wait.isOver() { return true }
    guard now >= wait.until else { return false }
    // Whether an answer that is due is missing shows only where the connection lives on.
    if let client = wait.suspect, let connection = client.connection, connection.phase == .open,
      client.isAccepted
    {
      ping(client, connection, now)
      return false
    }
    return true
  }

  private func ping(_ client: CaseClient, _ connection: CaseConnection, _ now: Timestamp) {
    connection.send([MQTTPacketType.pingreq.rawValue << 4, 0], now)
    wait = CaseWait(
      .packets(client, 1) { $0.type == .pingresp }, until: now.advanced(by: Self.shortWait))
  }

  // MARK: Steps

  private func client(named name: String) -> CaseClient {
    if let known = clients.first(where: { $0.name == name }) { return known }
    let client = CaseClient(name, clientID: setting.clientID(of: name, in: index))
    clients.append(client)
    return client
  }

  private func find(_ name: Substring) -> JSONValue? {
    if let value = plan.values.first(where: { $0.key == name })?.value { return value }
    switch name {
    case "t": return .string(setting.firstLevel + "/" + setting.topicTail(of: plan))
    case "tail": return .string(setting.topicTail(of: plan))
    case "version": return .string(plan.version == .v5_0 ? "5.0" : "3.1.1")
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

  private func perform(_ step: CaseStep, _ now: Timestamp) throws(DriverError) {
    let fields = step.fields.map { field in
      JSONMember(field.key, CaseTemplate.fill(field.value, find), offset: field.offset)
    }
    func field(_ key: String) -> JSONValue? { fields.first { $0.key == key }?.value }
    if step.action == .wait {
      let seconds = try step.seconds(fields, orElse: 1)
      wait = CaseWait(.nothing, until: now.advanced(by: seconds))
      return
    }
    let client = client(named: step.client)
    switch step.action {
    case .wait: break
    case .open: try open(client, now)
    case .connect where !client.isFresh:
      try open(client, now)
      // Done again when the connection is there.
      position -= 1
    case .connect, .subscribe, .unsubscribe, .publish, .fence, .send:
      try send(step, fields, by: client, now)
    case .bytes:
      try checkIsReached(client)
      client.isFresh = false
      client.connection?.send(try step.hex(fields), now)
    case .await: try listen(step, fields, client, now)
    case .hold: client.held = try step.types(fields)
    case .disconnect:
      try send(step, fields, by: client, now)
      client.hasLeft = true
      client.connection?.finish(now)
      wait = CaseWait(.ends(of: [client]), until: now.advanced(by: Self.shortWait))
    case .finish:
      client.connection?.finish(now)
      wait = CaseWait(.ends(of: [client]), until: now.advanced(by: Self.shortWait))
    case .reset: client.connection?.reset(now)
    }
  }

  private func open(_ client: CaseClient, _ now: Timestamp) throws(DriverError) {
    if let connection = client.connection, !connection.isOver { connection.reset(now) }
    connections += 1
    do throws(DataClientError) {
      client.begin(
        try CaseConnection(
          connections, to: setting.place, plan.version, recorder, plan.cut?.chopping))
    } catch {
      throw DriverError(
        .unreachable,
        "\(setting.place.name) can't be reached: \(error.message); check whether it runs")
    }
    wait = CaseWait(.opening(client), until: now.advanced(by: .seconds(10)))
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
    _ step: CaseStep, _ fields: [JSONMember], by client: CaseClient, _ now: Timestamp
  ) throws(DriverError) {
    try checkIsReached(client)
    // Also where the server has ended it already: another CONNECT is to have another one.
    client.isFresh = false
    guard let connection = client.connection, connection.phase == .open else { return }
    let packet = try StepPacket(step, fields, defaults(client), plan.version)
    traces.note(packet, of: client, plan.version)
    connection.send(packet.bytes, now)
    if packet.type == .disconnect { client.hasLeft = true }
    guard fields.first(where: { $0.key == "await" })?.value.bool ?? (step.action != .send),
      let match = Self.answer(to: packet)
    else { return }
    wait = CaseWait(
      .packets(client, 1, match), until: now.advanced(by: Self.patience), suspect: client)
  }

  private func defaults(_ client: CaseClient) -> StepPacket.Defaults {
    messages += 1
    return StepPacket.Defaults(
      clientID: client.clientID, credentials: setting.place.credentials,
      payload: "\(plan.name) \(messages)", packetID: client.takeID())
  }

  /// What ends the exchange that a packet begins; nil where there is none.
  private static func answer(to packet: StepPacket) -> ((HeardPacket) -> Bool)? {
    let id = packet.packetID
    switch packet.type {
    case .connect: return { $0.type == .connack }
    case .subscribe: return { $0.type == .suback && $0.packetID == id }
    case .unsubscribe: return { $0.type == .unsuback && $0.packetID == id }
    case .pingreq: return { $0.type == .pingresp }
    case .publish where packet.qos == 1: return { $0.type == .puback && $0.packetID == id }
    case .publish where packet.qos == 2:
      // A server that has no QoS 2 may answer by PUBACK, which ends it as well.
      return {
        $0.packetID == id
          && ([.pubcomp, .puback].contains($0.type) || $0.type == .pubrec && $0.code >= 0x80)
      }
    default: return nil
    }
  }

  private func listen(
    _ step: CaseStep, _ fields: [JSONMember], _ client: CaseClient, _ now: Timestamp
  ) throws(DriverError) {
    let until = now.advanced(by: try step.seconds(fields, orElse: 2))
    guard let name = fields.first(where: { $0.key == "type" })?.value.text else {
      wait = CaseWait(.ends(of: [client]), until: until)
      return
    }
    guard let type = MQTTPacketType(named: name) else {
      throw DriverError(.badCase, "\(step.place): \"type\" names no packet of MQTT")
    }
    let count = fields.first { $0.key == "count" }?.value.integer ?? 1
    wait = CaseWait(.packets(client, count) { $0.type == type }, until: until)
  }
}
