import Glibc
import LiveClient
import RepriseCore
import Wire

/// The broker of a case, for the client that is driven by it.
final class CaseBroker: CaseWorld {
  private let plan: CasePlan
  private let version: MQTTVersion
  private let index: Int
  private let setting: ClientSetting
  private let recorder: CaseRecorder
  /// What starts the client; nil where it connects by itself.
  private let command: ClientCommand?
  private var process: CommandProcess?
  /// What clients connect to; nil before the first step that waits for one, and behind the last step.
  private var listener: (socket: TCPSocket, port: UInt16)?
  private var connections: [ServedClient] = []
  /// The connection that steps are about.
  private var current: ServedClient?
  /// How many connections are still to be taken by steps.
  private var meetings: Int
  /// Until when the next connection is waited for.
  private var patience: Timestamp?
  private var nextID: UInt16 = 0
  private var messages = 0
  /// The first filter that was subscribed to.
  private var filter: String?
  /// What the client was seen to do.
  private(set) var abilities = ClientAbilities()

  /// How long a client may take to connect: one that is started, and one that comes of itself.
  private static let patience = (started: Duration.seconds(20), own: Duration.seconds(60))

  /// Prepares a broker.
  /// - Parameters:
  ///   - plan: The case.
  ///   - index: The number of the run among all, which names the client.
  ///   - command: What starts the client; nil where it connects by itself.
  ///   - setting: What all cases of the run have in common.
  ///   - recorder: Keeps what passes.
  init(
    _ plan: CasePlan, _ index: Int, _ command: ClientCommand?, _ setting: ClientSetting,
    _ recorder: CaseRecorder
  ) {
    (self.plan, self.index, self.command) = (plan, index, command)
    (self.setting, self.recorder) = (setting, recorder)
    version = plan.version ?? .v5_0
    meetings = plan.steps.count { [.accept, .open].contains($0.action) }
  }

  // MARK: The driver's turns

  var interests: [pollfd] {
    let listening = pollfd(fd: listener?.socket.number ?? -1, events: Int16(POLLIN), revents: 0)
    return [listening] + connections.map(\.connection.interest)
  }

  var wakeTime: Timestamp? {
    connections.flatMap { [$0.connection.wakeTime, $0.closingTime].compactMap(\.self) }.min()
  }

  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {
    for (client, file) in zip(connections, events.dropFirst()) where file.revents != 0 {
      var answers: [UInt8] = []
      client.connection.service(file.revents, &buffer, now) { view in
        let packet = HeardPacket(view)
        take(packet)
        answers += client.take(packet, now)
      }
      if !answers.isEmpty { client.connection.send(answers, now) }
    }
    if let first = events.first, first.revents != 0 { accept() }
  }

  private func accept() {
    while let socket = try? listener?.socket.accept() {
      let connection = CaseConnection(
        connections.count + 1, from: socket, security: setting.place.security, version, recorder,
        plan.cut?.chopping)
      connections.append(ServedClient(connection))
    }
  }

  private func take(_ packet: HeardPacket) {
    abilities.take(packet)
    if case .subscribe(_, let subscriptions, _) = packet.content {
      filter = filter ?? subscriptions.first?.filter
    }
  }

  func goOn(_ now: Timestamp) {
    for client in connections {
      client.connection.goOn(now)
      if let time = client.closingTime, time <= now { client.close(now) }
    }
  }

  func leave(_ now: Timestamp) -> CaseWait {
    listener = nil
    for client in connections {
      abilities.usesWebSocket = abilities.usesWebSocket || client.connection.isWebSocket
      // A program closes what it has when it ends.
      if process == nil { client.connection.finish(now) }
    }
    process?.terminate()
    return CaseWait(until: now.advanced(by: CaseWait.shortWait)) {
      self.connections.allSatisfy(\.connection.isOver) && self.process?.isRunning != true
    }
  }

  func breakOff(_ now: Timestamp) {
    listener = nil
    for client in connections { client.connection.reset(now) }
    process?.kill()
    process = nil
  }

  // MARK: Names

  func value(of name: Substring) -> JSONValue? {
    switch name {
    case "topic": .string(filter.map(Self.topic(matching:)) ?? setting.topic(of: plan))
    case "filter": .string(filter ?? setting.topic(of: plan))
    case "id": .number(String(current?.lastID ?? 0))
    case "method": .string(abilities.method ?? "")
    case "session": .bool(abilities.keepsSession)
    default: nil
    }
  }

  /// A topic that matches a filter.
  static func topic(matching filter: String) -> String {
    var levels = filter.split(separator: "/", omittingEmptySubsequences: false)[...]
    if levels.first == "$share" { levels = levels.dropFirst(2) }
    return levels.map { $0 == "+" || $0 == "#" ? "x" : String($0) }.joined(separator: "/")
  }

  // MARK: Steps

  func perform(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    switch step.action {
    case .open, .accept: return try meet(step, fields, now)
    case .publish:
      return try send(step, fields.with("topic", orElse: value(of: "topic") ?? ""), now)
    case .send: return try send(step, fields, now)
    case .bytes: current?.connection.send(try fields.hex(), now)
    case .await: return .waiting(try listen(fields, now))
    case .hold: current?.held = try fields.types()
    case .release:
      if let answers = current?.release() { current?.connection.send(answers, now) }
    case .disconnect:
      _ = try send(step, fields, now)
      current?.connection.finish(now)
      return .waiting(end(now))
    case .finish:
      current?.connection.finish(now)
      return .waiting(end(now))
    case .reset: current?.connection.reset(now)
    case .connect, .subscribe, .unsubscribe, .fence, .wait, .frame, .message, .close: break
    }
    return .done
  }

  /// Waits for the next connection with its CONNECT, and answers it where the step does.
  private func meet(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    try begin()
    if let client = connections.first(where: { !$0.isTaken && $0.connect != nil }) {
      client.isTaken = true
      (current, patience) = (client, nil)
      meetings -= 1
      // Another one would get no answer.
      if meetings == 0, setting.place.listener == nil { listener = nil }
      return step.action == .accept ? try send(step, fields, now) : .done
    }
    let own = command == nil ? Self.patience.own : Self.patience.started
    let until = patience ?? now.advanced(by: own)
    patience = until
    if now < until, process?.isRunning != false || hasUntaken {
      return .again(
        CaseWait(until: until) {
          self.connections.contains { !$0.isTaken && $0.connect != nil }
            || self.process?.isRunning == false && !self.hasUntaken
        })
    }
    (current, patience) = (nil, nil)
    // One that does not come back is free not to; what steps say of it is in vain.
    guard connections.allSatisfy({ !$0.isTaken }) else { return .done }
    throw DriverError(.unreachable, "the client \(absence)")
  }

  /// Whether there is a connection whose CONNECT may still come.
  private var hasUntaken: Bool {
    connections.contains { !$0.isTaken && !$0.isGone }
  }

  private var absence: String {
    if !connections.isEmpty { return "sends no CONNECT" }
    if let ending = process?.endedBy {
      return "ended with \(ending) before it connected; run it by hand to see what it says"
    }
    return command == nil
      ? "does not connect" : "does not connect to port \(listener?.port ?? 0); {port} stands for it"
  }

  /// Listens, and starts the client.
  private func begin() throws(DriverError) {
    guard listener == nil, connections.isEmpty else { return }
    let socket: (socket: TCPSocket, port: UInt16)
    do throws(DataClientError) { socket = try setting.place.socket() } catch {
      throw DriverError(.unreachable, error.message)
    }
    listener = socket
    guard let command, setting.place.listener == nil else { return }
    process = try CommandProcess(
      command.filled(at: setting.place, socket.port, scheme: "mqtt", place))
  }

  /// What stands for a place of the command.
  private func place(_ name: String) -> String? {
    switch name {
    case "topic": setting.topic(of: plan)
    case "id": setting.clientID(index)
    case "version": version == .v5_0 ? "5" : "311"
    default: plan.text(name) ?? Self.usual[name]
    }
  }

  /// What stands for places of the command where a case has no value of that name.
  private static let usual = [
    "qos": "1", "count": "1", "keepalive": "60", "payload": "hello",
  ]

  private func send(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    guard let client = current, client.connection.phase == .open else { return .done }
    let packet = try StepPacket(step, fields, defaults(), client.connection.version)
    client.connection.send(packet.bytes, now)
    if packet.type == .connack {
      let code = packet.json["reasonCodes"]?.elements?.first?.integer ?? 0
      let rest = client.answered(by: UInt8(truncatingIfNeeded: code))
      if !rest.isEmpty { client.connection.send(rest, now) }
    }
    guard fields["await"]?.bool ?? (step.action == .publish),
      let match = packet.ending
    else { return .done }
    return .waiting(
      CaseWait(until: now.advanced(by: CaseWait.patience), hears(client, 1, match)))
  }

  private func defaults() -> StepPacket.Defaults {
    messages += 1
    nextID = nextID == .max ? 1 : nextID + 1
    return StepPacket.Defaults(
      clientID: "",
      credentials: BrokerPlace.Credentials(
        authentication: abilities.method.map { Authentication(method: $0) }),
      payload: "\(plan.name) \(messages)", packetID: nextID)
  }

  // MARK: Waiting

  private func hears(
    _ client: ServedClient, _ count: Int, _ isWanted: @escaping (HeardPacket) -> Bool
  ) -> () -> Bool {
    client.heard.takes(count, isWanted) { client.isGone }
  }

  private func end(_ now: Timestamp) -> CaseWait {
    let client = current
    return CaseWait(until: now.advanced(by: CaseWait.shortWait)) { client?.isGone ?? true }
  }

  private func listen(
    _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseWait {
    let until = now.advanced(by: try fields.seconds(orElse: 5))
    let client = current
    guard let (type, count) = try fields.awaited() else {
      return CaseWait(until: until) { client?.isGone ?? true }
    }
    guard let client else { return CaseWait(until: now) { true } }
    return CaseWait(until: until, hears(client, count) { $0.type == type })
  }
}
