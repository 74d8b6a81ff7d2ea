import RepriseCore

/// What the cloud knows of gateways and their sub-devices, and how it answers them.
struct GatewayCloud: Sendable {
  /// What is answered, and where.
  enum Response {
    /// On the topic of the request with `_reply`.
    case reply(CloudAnswer)
    /// As an error of a session, to a gateway.
    case sessionError(CloudAnswer, CloudDevice)
    case nothing
  }

  private let script: GatewayScript
  private var gateways: Set<CloudDevice> = []
  private(set) var lastGateway: CloudDevice?
  private var logins: [CloudDevice: [Timestamp]] = [:]
  private var registered = 0
  /// The gateway of each sub-device.
  var topology: [CloudDevice: CloudDevice] = [:]
  /// The gateway through which each sub-device is online.
  var sessions: [CloudDevice: CloudDevice] = [:]
  var disabled: Set<CloudDevice> = []
  /// The devices that exist no longer.
  var deleted: Set<CloudDevice> = []
  /// How many commands each device has answered.
  private(set) var answers: [CloudDevice: Int] = [:]

  /// What is told, with the filter of the topics that are the occasion.
  let schedules: [(schedule: GatewayScript.ScheduledPush, filter: Subscription?)]

  init(_ script: GatewayScript) {
    self.script = script
    schedules = script.pushes.map { ($0, $0.trigger.map { Subscription($0) }) }
  }

  // MARK: Requests

  /// Answers a request, and takes note of what it changes.
  mutating func respond(to request: GatewayRequest, now: Timestamp) -> Response {
    switch request.kind {
    case .post: return post(request)
    case .answer:
      answers[request.device, default: 0] += 1
      return .nothing
    case .addTopology, .deleteTopology, .getTopology, .found, .register, .unregister, .login,
      .logout, .batchLogin, .batchLogout, .pack:
      gateways.insert(request.device)
      lastGateway = request.device
      return .reply(answer(request, now))
    }
  }

  private mutating func answer(_ request: GatewayRequest, _ now: Timestamp) -> CloudAnswer {
    let gateway = request.device
    switch request.kind {
    case .addTopology: return addTopology(request.params, gateway)
    case .deleteTopology: return deleteTopology(request.params, gateway)
    case .getTopology:
      let mine = topology.filter { $0.value == gateway }.keys.sorted { $0.path < $1.path }
      return CloudAnswer(data: .array(mine.map(\.json)))
    case .found, .unregister:
      return Self.devices(request.params) == nil ? Self.wrong : CloudAnswer(data: .object([]))
    case .register: return register(request.params)
    case .login: return logIn(request.params.map { [$0] }, gateway, isBatch: false, now)
    case .batchLogin: return logIn(Self.list(request.params), gateway, isBatch: true, now)
    case .logout: return logOut(request.params.map { [$0] }, gateway)
    case .batchLogout: return logOut(request.params?.elements, gateway)
    case .pack, .post, .answer: return CloudAnswer(data: .object([]))
    }
  }

  private static let wrong = CloudAnswer.failure(.number("460"), message: "request parameter error")

  private static func failure(_ code: Int, _ message: String) -> CloudAnswer {
    .failure(.number(String(code)), message: message)
  }

  /// Returns the devices of an array; nil when it is none, or has something else.
  private static func devices(_ value: JSONValue?) -> [CloudDevice]? {
    guard let elements = value?.elements, !elements.isEmpty else { return nil }
    let devices = elements.compactMap { CloudDevice($0) }
    return devices.count == elements.count ? devices : nil
  }

  private static func list(_ params: JSONValue?) -> [JSONValue]? {
    params?["deviceList"]?.elements
  }

  // MARK: Topology

  private mutating func addTopology(
    _ params: JSONValue?, _ gateway: CloudDevice
  ) -> CloudAnswer {
    guard let devices = Self.devices(params), let elements = params?.elements else {
      return Self.wrong
    }
    for (device, element) in zip(devices, elements) {
      if device == gateway { return Self.failure(6_402, "topo relation cannot add by self") }
      if !exists(device) { return Self.failure(6_100, "device not found") }
      if !isSigned(device, element) { return Self.failure(401, "request auth error") }
      if disabled.contains(device) { return Self.failure(6_204, "device disabled") }
    }
    for device in devices {
      if topology[device] != gateway { sessions[device] = nil }
      topology[device] = gateway
    }
    return CloudAnswer(data: .array(devices.map(\.json)))
  }

  private mutating func deleteTopology(
    _ params: JSONValue?, _ gateway: CloudDevice
  ) -> CloudAnswer {
    guard let devices = Self.devices(params) else { return Self.wrong }
    guard devices.allSatisfy({ topology[$0] == gateway }) else {
      return Self.failure(6_401, "topo relation not exist")
    }
    for device in devices {
      topology[device] = nil
      sessions[device] = nil
    }
    return CloudAnswer(data: .object([]))
  }

  private func exists(_ device: CloudDevice) -> Bool {
    guard !deleted.contains(device) else { return false }
    return script.devices.isEmpty || script.devices.contains { $0.device == device }
  }

  private func isSigned(_ device: CloudDevice, _ element: JSONValue) -> Bool {
    guard let sign = element["sign"]?.text, !sign.isEmpty else { return false }
    let good = script.devices.first { $0.device == device }?.sign
    return good.map { $0.lowercased() == sign.lowercased() } ?? true
  }

  private mutating func register(_ params: JSONValue?) -> CloudAnswer {
    guard let elements = params?.elements, !elements.isEmpty else { return Self.wrong }
    var made: [JSONValue] = []
    for element in elements {
      guard let productKey = element["productKey"]?.text else { return Self.wrong }
      registered += 1
      let name = element["deviceName"]?.text ?? "made-\(registered)"
      let device = CloudDevice(productKey: productKey, deviceName: name)
      deleted.remove(device)
      made.append(
        .object([
          JSONMember("iotId", .string("iot-\(name)")),
          JSONMember("productKey", .string(productKey)),
          JSONMember("deviceName", .string(name)),
          JSONMember("deviceSecret", .string("secret-\(registered)")),
        ]))
    }
    return CloudAnswer(data: .array(made))
  }

  // MARK: Sessions

  private mutating func logIn(
    _ elements: [JSONValue]?, _ gateway: CloudDevice, isBatch: Bool, _ now: Timestamp
  ) -> CloudAnswer {
    guard let elements, let devices = Self.devices(.array(elements)) else { return Self.wrong }
    for (device, element) in zip(devices, elements) {
      if !exists(device) { return Self.failure(521, "device deleted") }
      if disabled.contains(device) { return Self.failure(522, "device forbidden") }
      if topology[device] != gateway { return Self.failure(6_401, "topo relation not exist") }
      if !isSigned(device, element) { return Self.failure(6_287, "invalid sign") }
      if isTooSoon(device, now) { return Self.failure(429, "too many subDeviceOnline msg") }
    }
    for device in devices { sessions[device] = gateway }
    let data = devices.map(\.json)
    return CloudAnswer(data: isBatch ? .array(data) : data.first)
  }

  /// Counts logins, also those that are too many.
  private mutating func isTooSoon(_ device: CloudDevice, _ now: Timestamp) -> Bool {
    let lastMinute = (logins[device] ?? []).filter {
      now.nanoseconds(since: $0) < 60_000_000_000
    }
    logins[device] = lastMinute + [now]
    return lastMinute.count >= script.loginsPerMinute
  }

  private mutating func logOut(
    _ elements: [JSONValue]?, _ gateway: CloudDevice
  ) -> CloudAnswer {
    guard let elements, let devices = Self.devices(.array(elements)) else { return Self.wrong }
    guard devices.allSatisfy({ sessions[$0] == gateway }) else {
      return Self.failure(520, "device no session")
    }
    for device in devices { sessions[device] = nil }
    return CloudAnswer(data: devices.first?.json)
  }

  /// Ends all sessions of a gateway, as its lost connection does.
  mutating func endSessions(of gateway: CloudDevice) {
    sessions = sessions.filter { $0.value != gateway }
  }

  private func post(_ request: GatewayRequest) -> Response {
    let device = request.device
    if sessions[device] != nil || gateways.contains(device) {
      return .reply(CloudAnswer(data: .object([])))
    }
    guard let gateway = topology[device] ?? lastGateway else { return .nothing }
    let error =
      topology[device] == nil
      ? Self.failure(6_401, "topo relation not exist") : Self.failure(520, "device no session")
    return .sessionError(error, gateway)
  }
}
