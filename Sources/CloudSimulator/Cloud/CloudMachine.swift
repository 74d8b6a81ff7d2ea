package import RepriseCore

/// The cloud as a value: what devices send goes in, what it answers comes out.
///
/// It knows the long connection of an app: requests on `/sys/{pk}/{dn}/app/up/…` are answered on
/// `/sys/{pk}/{dn}/app/down/…_reply` with the identifier as it came. It waits for nothing and reads
/// no clock; the same inputs at the same times give the same outputs. What it says at another time
/// than it was asked comes with the first input at or after ``deadline``.
package struct CloudMachine: Sendable {
  /// What happened.
  package enum Input: Sendable, Hashable {
    /// The cloud is there; pushes that name their device count from the first of these.
    case started
    /// A message of a device came.
    case received(Message)
    /// The test or the tool wants something pushed now.
    case commanded(CloudPush, to: CloudDevice)
    /// The test or the tool wants a gateway told something now.
    case told(GatewayPush)
    /// The test or the tool says that a gateway's connection is lost, and its sub-devices' sessions with it.
    case lost(CloudDevice)
    /// Time has passed, and nothing else happened.
    case timePassed
  }

  /// What to do.
  package enum Output: Sendable, Hashable {
    /// Send a message.
    case publish(Message)
    /// Cut off the client that sent to this topic last.
    case dropPublisher(of: String)
  }

  enum Work {
    case output(Output)
    case tell(GatewayPush)
    case push(CloudScript.ScheduledPush, CloudDevice, left: Int?)
  }

  private struct Planned {
    let time: Timestamp
    let work: Work
  }

  private struct Rule {
    let reply: CloudScript.Reply
    let filter: Subscription
    var requestCount = 0
  }

  private let tokens: [String: CloudScript.TokenRefusal]
  private let pushes: [(schedule: CloudScript.ScheduledPush, filter: Subscription?)]
  private var rules: [Rule]
  /// What is known of gateways; nil when the script has none.
  var gateways: GatewayCloud?
  /// The server of links; nil when the script has none.
  private var links: LinkServiceMachine?
  private let optionalParts: Set<CloudScript.Part>
  private var knownDevices: Set<CloudDevice> = []
  private var isStarted = false
  private var lastPushID: UInt64 = 0
  /// Earliest first; of one time, in the order of planning.
  private var planned: [Planned] = []

  /// The devices whose app is bound to an account.
  package private(set) var boundDevices: Set<CloudDevice> = []

  /// Creates a cloud.
  /// - Parameter script: How it behaves.
  package init(_ script: CloudScript = CloudScript()) {
    tokens = script.tokens
    rules = script.replies.map {
      Rule(reply: $0, filter: Subscription(CloudTopic.upFilter($0.topic)))
    }
    pushes = script.pushes.map {
      ($0, $0.trigger.map { Subscription(CloudTopic.upFilter($0)) })
    }
    gateways = script.gateway.map { GatewayCloud($0) }
    links = script.links.map { LinkServiceMachine($0) }
    optionalParts = script.optionalParts
  }

  /// What the cloud subscribes to.
  var filters: [String] {
    [CloudTopic.everythingUp] + (gateways == nil ? [] : GatewayRequest.everythingUp)
      + (links == nil ? [] : LinkAddress.filters)
  }

  /// What of it a broker may refuse.
  var optionalFilters: [String] {
    (optionalParts.contains(.gateways) ? GatewayRequest.everythingUp : [])
      + (optionalParts.contains(.links) ? LinkAddress.filters : [])
  }

  /// When the cloud has something to say; nil is when it is asked.
  package var deadline: Timestamp? { earlier(planned.first?.time, links?.deadline) }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When; never before the time of an earlier input.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    var outputs = release(now) + serveLinks(input, now)
    switch input {
    case .started: start(now)
    case .received(let message): receive(message, now)
    case .commanded(let push, let device):
      plan(.push(CloudScript.ScheduledPush(push), device, left: 1), at: now)
    case .told(let push): plan(.tell(push), at: now)
    case .lost(let gateway): gateways?.endSessions(of: gateway)
    case .timePassed: break
    }
    outputs += release(now)
    return outputs
  }

  /// Lets the server of links have its messages, and its time.
  private mutating func serveLinks(_ input: Input, _ now: Timestamp) -> [Output] {
    guard links != nil else { return [] }
    let answers: [Message]?
    if case .received(let message) = input, LinkAddress.parse(message.topic) != nil {
      answers = links?.handle(.received(message), now: now)
    } else {
      answers = links?.handle(.timePassed, now: now)
    }
    return (answers ?? []).map { .publish($0) }
  }

  // MARK: Requests

  private mutating func receive(_ message: Message, _ now: Timestamp) {
    guard let (device, _) = CloudRequest.place(message.topic) else {
      return receiveFromGateway(message, now)
    }
    if let request = CloudRequest(message) { answer(request, topic: message.topic, now) }
    let isNew = knownDevices.insert(device).inserted
    for (schedule, filter) in pushes where schedule.device == nil {
      guard filter?.matches(message.topic) ?? isNew else { continue }
      plan(schedule, device, now)
    }
  }

  private mutating func answer(_ request: CloudRequest, topic: String, _ now: Timestamp) {
    var answer = healthyAnswer(to: request)
    var faults: [CloudFault] = []
    var time = now
    if let rule = takeRule(topic) {
      answer.apply(rule)
      faults = rule.faults
      time = now.advanced(by: rule.delay)
    }
    if answer.isSuccess {
      if request.path == "/account/bind" { boundDevices.insert(request.device) }
      if request.path == "/account/unbind" { boundDevices.remove(request.device) }
    }
    if faults.contains(.noReply) { return }
    if faults.contains(.dropConnection) {
      return plan(.output(.dropPublisher(of: topic)), at: time)
    }
    let suffix = faults.contains(.wrongTopic) ? "" : "_reply"
    let reply = Message(
      topic: request.device.downTopic(request.path + suffix),
      payload: answer.payload(to: request, faults: faults), qos: .atLeastOnce)
    plan(.output(.publish(reply)), at: time)
    if faults.contains(.duplicate) { plan(.output(.publish(reply)), at: time) }
  }

  private func healthyAnswer(to request: CloudRequest) -> CloudAnswer {
    switch request.path {
    case "/account/bind":
      guard let token = request.text("iotToken"), !token.isEmpty else {
        return .failure(.number("460"), message: "iotToken is missing")
      }
      guard let refusal = tokens[token] else { return CloudAnswer(data: .object([])) }
      return .failure(refusal.code, message: refusal.message)
    case "/account/unbind": return CloudAnswer(data: .object([]))
    default: return CloudAnswer(data: request.params ?? .object([]))
    }
  }

  /// The first rule for a request; every rule counts the requests on its topic.
  mutating func takeRule(_ topic: String) -> CloudScript.Reply? {
    var taken: CloudScript.Reply?
    for index in rules.indices where rules[index].filter.matches(topic) {
      rules[index].requestCount += 1
      let requests = rules[index].reply.requests
      guard taken == nil, requests.isEmpty || requests.contains(rules[index].requestCount) else {
        continue
      }
      taken = rules[index].reply
    }
    return taken
  }

  // MARK: Pushes

  private mutating func start(_ now: Timestamp) {
    guard !isStarted else { return }
    isStarted = true
    for (schedule, _) in pushes {
      if let device = schedule.device { plan(schedule, device, now) }
    }
  }

  private mutating func plan(
    _ schedule: CloudScript.ScheduledPush, _ device: CloudDevice, _ now: Timestamp
  ) {
    let left = schedule.interval == nil ? 1 : schedule.count
    plan(.push(schedule, device, left: left), at: now.advanced(by: schedule.delay))
  }

  mutating func plan(_ work: Work, at time: Timestamp) {
    let index = planned.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    planned.insert(Planned(time: time, work: work), at: index)
  }

  /// Takes out what is due.
  private mutating func release(_ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    while let first = planned.first, first.time <= now {
      planned.removeFirst()
      switch first.work {
      case .output(let output): outputs.append(output)
      case .tell(let push):
        lastPushID += 1
        if let message = gateways?.message(push, id: lastPushID) {
          outputs.append(.publish(message))
        }
      case .push(let schedule, let device, let left):
        lastPushID += 1
        outputs.append(
          .publish(schedule.push.message(to: device, id: lastPushID, now: now)))
        let stillLeft = left.map { $0 - 1 }
        guard let interval = schedule.interval, stillLeft ?? 1 > 0 else { continue }
        // What was missed while nobody asked is not made up for.
        var next = first.time.advanced(by: interval)
        if next <= now { next = now.advanced(by: interval) }
        guard next > now else { continue }
        plan(.push(schedule, device, left: stillLeft), at: next)
      }
    }
    return outputs
  }
}
