import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives a gateway's machine by hand, and writes down what comes out.
struct GatewayBench: MachineBench {
  /// What a test's sub-device does when it is asked.
  enum Device {
    case ready(SubdeviceInfo)
    case failing
    /// It never answers.
    case silent
  }

  var machine: GatewayStateMachine
  var now = ScriptedClient.start
  /// Subscriptions are granted and messages acknowledged at once, without a line.
  var isTerse = true
  var devices: [ConnectionID: Device] = [:]
  private var text = GatewayText()
  var book = BenchBook()
  /// The requests whose reply was not sent yet, the oldest first.
  var requests: [(topic: String, id: String)] = []
  private(set) var published: [Message] = []

  static let sub = Subdevice(known: "123", "test")
  static let other = Subdevice(known: "123", "other")

  static func configuration() throws -> GatewayConfiguration {
    var configuration = try GatewayConfiguration(ridingAs: "phone&a1gw")
    configuration.reconnect.jitterPercent = 0
    configuration.syncsTopology = false
    return configuration
  }

  static func info(_ subdevice: Subdevice = sub) throws -> SubdeviceInfo {
    try SubdeviceInfo(
      signing: DeviceCredentials(
        productKey: subdevice.productKey, deviceName: subdevice.deviceName,
        deviceSecret: "secret"), clientID: "123")
  }

  init(_ change: (inout GatewayConfiguration) throws -> Void = { _ in }) throws {
    var configuration = try Self.configuration()
    try change(&configuration)
    machine = try GatewayStateMachine(configuration)
    devices[ConnectionID(rawValue: 1)] = .ready(try Self.info())
    devices[ConnectionID(rawValue: 2)] = .ready(try Self.info(Self.other))
  }

  static func connected(
    _ change: (inout GatewayConfiguration) throws -> Void = { _ in }
  ) throws -> GatewayBench {
    var bench = try GatewayBench(change)
    bench.call("start", .start)
    bench.accept()
    _ = bench.take()
    return bench
  }

  /// A connected gateway with a line in a state; not `new`, which is no line yet.
  static func line(
    in state: LineState = .ready, _ change: (inout GatewayConfiguration) throws -> Void = { _ in }
  ) throws -> GatewayBench {
    var bench = try connected(change)
    bench.setUp(1)
    if state == .topology || state == .online {
      bench.operate("add", .addTopology)
      bench.reply()
    }
    if state == .online {
      bench.operate("login", .logIn)
      bench.reply()
    }
    _ = bench.take()
    return bench
  }

  // MARK: Inputs

  mutating func take(_ outputs: [GatewayStateMachine.Output]) {
    for output in outputs {
      switch output {
      case .perform(let action): perform(action)
      case .complete(let id, let result):
        if let name = book.name(of: id) { book.lines.append(GatewayText.line(name, result)) }
      case .tell(.openConnection(let id)): ask(id)
      case .tell(let effect): book.lines.append(GatewayText.line(effect))
      }
    }
  }

  private mutating func perform(_ action: ClientAction) {
    let line = text.line(action)
    if case .publish(let message) = action.kind { note(message) }
    switch action.kind {
    case .subscribe(let wanted) where isTerse:
      input(.received(.subscribed(action.id, wanted.map { $0.qos })))
    case .unsubscribe where isTerse: input(.received(.unsubscribed(action.id)))
    case .publish where isTerse:
      book.lines.append(line)
      input(.received(.published(action.id)))
    case .connect, .subscribe, .unsubscribe, .publish, .send, .sendText, .sendBinary, .disconnect:
      book.open.append(action)
      book.lines.append(line)
    }
  }

  private mutating func note(_ message: Message) {
    published.append(message)
    let payload = JSONValue(parsing: message.payload)
    if payload?["code"] == nil, let id = payload?["id"]?.text {
      requests.append((message.topic, id))
    }
  }

  private mutating func ask(_ id: ConnectionID) {
    switch devices[id] {
    case .ready(let info): noteOpened(id, .success(info))
    case .failing: noteOpened(id, .failure(GatewayError(.subdevice, "test")))
    case .silent, nil: book.lines.append("open \(id.rawValue)")
    }
  }

  mutating func noteOpened(_ id: ConnectionID, _ result: Result<SubdeviceInfo, GatewayError>) {
    input(.called(book.newCall(), .noteOpened(id, result)))
  }

  mutating func setUp(_ connection: UInt64, as name: String = "line") {
    call(name, .setUp(ConnectionID(rawValue: connection)))
  }

  mutating func operate(
    _ name: String, _ kind: LineCall, _ subdevices: [Subdevice] = [sub],
    isBatch: Bool = false
  ) {
    call(name, .operate(kind, subdevices, isBatch: isBatch))
  }

  mutating func post(_ name: String, _ params: JSONValue = ["Power": 1]) throws {
    let topic = GatewayTopics.thing(Self.sub, "event/property/post")
    call(name, .invoke(.init(try FullTopic(topic), params: params, for: Self.sub)))
  }

  // MARK: What the world does

  mutating func grant(_ granted: [QoS?] = [.atLeastOnce]) {
    let id = book.takeOpen { if case .subscribe = $0 { true } else { false } }
    input(.received(.subscribed(id, granted)))
  }

  mutating func acknowledge() {
    let id = book.takeOpen {
      switch $0 {
      case .publish, .unsubscribe: true
      case .connect, .subscribe, .send, .sendText, .sendBinary, .disconnect: false
      }
    }
    input(.received(.published(id)))
  }

  mutating func close(_ reason: ClientEvent.Closed = .lost("test")) {
    book.open = []
    requests = []
    input(.received(.closed(reason)))
  }

  mutating func message(_ topic: String, _ payload: JSONValue) {
    let topic = GatewayText.lengthen(topic)
    input(.received(.message(Message(topic: topic, payload: payload.utf8, qos: .atLeastOnce))))
  }

  /// Answers the oldest request.
  mutating func reply(code: JSONValue = 200, data: JSONValue? = nil) {
    guard !requests.isEmpty else { return book.lines.append("nothing waits for a reply") }
    let (topic, id) = requests.removeFirst()
    var members = [JSONMember("id", .string(id)), JSONMember("code", code)]
    if let data { members.append(JSONMember("data", data)) }
    message(topic + "_reply", .object(members))
  }

  /// Says something of a session: of the oldest request, or unasked.
  mutating func sessionError(
    _ code: JSONValue, _ subdevice: Subdevice? = sub, ofRequest: Bool = false
  ) {
    let id = ofRequest && !requests.isEmpty ? requests.removeFirst().id : "99999"
    var members = [JSONMember("id", .string(id)), JSONMember("code", code)]
    if let subdevice { members.append(JSONMember("data", subdevice.json)) }
    message("/ext/error/{gw}", .object(members))
  }
}
