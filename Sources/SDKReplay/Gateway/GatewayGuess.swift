import DeviceSDK
import RepriseCore

/// The configuration under which a gateway does of itself what a recorded client did of itself.
struct GatewayGuess {
  var configuration: GatewayConfiguration
  var notes: [String] = []
  private let recorded: RecordedGateway
  private var actions: [RecordedSession.Action] { recorded.session.actions }

  init(_ recorded: RecordedGateway, isRiding: Bool) throws(DataClientError) {
    self.recorded = recorded
    let connect = recorded.session.firstConnect
    do {
      let identity = try ChannelIdentity(
        productKey: recorded.device.productKey, deviceName: recorded.device.deviceName,
        mqttClientID: connect?.clientID, password: connect?.password)
      // The cloud's limits on the time between two packets are no concern of a replay.
      let isUsual = (30...1_200).contains(connect?.keepAlive ?? 300)
      configuration = GatewayConfiguration(
        isUsual && !isRiding ? .own(identity) : .shared(identity))
    } catch { throw DataClientError(.unreadable, error.message) }
    if let connect {
      configuration.keepAlive = connect.keepAlive
      configuration.receivesOfflineMessages = !connect.cleanStart
    }
    takeQualities()
    takeLimits()
    takeSubscriptions()
    if isRiding {
      // When it comes back is not seen of a gateway that sends no CONNECT; the plan of the connection knows.
      configuration.reconnect = .exactly(.seconds(1_000_000_000))
    } else {
      takeReconnecting()
    }
    takeRetries()
  }

  // MARK: Sending

  private mutating func takeQualities() {
    for action in actions.reversed() {
      if case .subscribe(let wanted) = action.kind, let first = wanted.first {
        configuration.publishQoS = first.qos
      }
      if case .publish(let message) = action.kind,
        let number = RecordedGatewayRequest(message.payload).flatMap({ UInt32($0.id) })
      {
        configuration.firstRequestID = number
      }
    }
  }

  /// The limits may have changed; what was sent at once was within them.
  private mutating func takeLimits() {
    configuration.limits.online = .max
    if recorded.loginsWithin(.seconds(60)) > configuration.limits.loginsPerMinute {
      configuration.limits.loginsPerMinute = .max
    }
    for action in actions {
      guard case .publish(let message) = action.kind,
        let place = GatewayTopic(message.topic), place.device == recorded.device,
        let count = RecordedGatewayRequest(message.payload)?.elements.count
      else { continue }
      switch place.lineCall {
      case .addTopology, .deleteTopology:
        configuration.limits.topologyPerRequest = max(
          configuration.limits.topologyPerRequest, count)
      case .logIn, .logOut:
        configuration.limits.loginsPerRequest = max(configuration.limits.loginsPerRequest, count)
      case nil:
        configuration.limits.topologyPerRequest = max(
          configuration.limits.topologyPerRequest, count)
        configuration.limits.registrationsPerRequest = max(
          configuration.limits.registrationsPerRequest, count)
      }
    }
  }

  private mutating func takeSubscriptions() {
    let isLoggedIn = recorded.replies.contains { key, reply in
      reply.code == 200 && GatewayTopic(key.topic)?.path.contains("login") == true
    }
    let hasCommands = actions.contains { action in
      guard case .subscribe(let wanted) = action.kind, wanted.count > 1 else { return false }
      return wanted.contains { GatewayTopic($0.filter)?.path == "thing/service/#" }
    }
    configuration.subscribesToCommands = hasCommands || !isLoggedIn
    configuration.syncsTopology = syncsTopology
  }

  /// Whether the topology was asked for after a new connection.
  private var syncsTopology: Bool {
    let topic = "/sys/\(recorded.device)/thing/topo/get"
    var isAgain = false
    var wasSeen = false
    for action in actions {
      switch action.kind {
      case .connect:
        isAgain = wasSeen
        wasSeen = true
      case .publish(let message): if isAgain, message.topic == topic { return true }
      case .subscribe(let wanted):
        if isAgain, wanted.map(\.filter) == [topic + "_reply"] { return true }
      case .unsubscribe, .disconnect, .send, .sendText, .sendBinary: continue
      }
    }
    return false
  }

  // MARK: Reconnecting

  private mutating func takeReconnecting() {
    let session = recorded.session
    session.patience.apply(
      connect: &configuration.connectTimeout, close: &configuration.closeTimeout)
    if let pause = session.shortestPause { configuration.reconnect = .exactly(pause) }
    guard session.goesOnWhenKicked(configuration.kickLimit, configuration.kickWindow) else {
      return
    }
    notes.append(
      "the gateway went on although it was kicked out \(configuration.kickLimit) times within "
        + "\(configuration.kickWindow.components.seconds) s, where it would have stopped")
    configuration.kickLimit = .max
  }

  // MARK: Trying again

  /// How long the client waited before it asked for the same again.
  private mutating func takeRetries() {
    let retries = RecordedRetries(recorded)
    if let pause = retries.pause(after: .throttled) {
      configuration.throttleRetry = .exactly(pause)
    }
    if let first = retries.firstOfGrowing(after: .refused) {
      configuration.faultRetry = BackOff(first: first, jitterPercent: 0)
    } else if let pause = retries.pause(after: .refused) {
      configuration.faultRetry = .exactly(pause)
    }
    // Silence takes a time-out and a pause; by what is usual, ten and one of eleven parts.
    guard let silence = retries.pause(after: .silent), silence < configuration.callTimeout,
      retries.longestAnswer < silence * 10 / 11
    else { return }
    configuration.callTimeout = silence * 10 / 11
    if retries.pause(after: .refused) == nil {
      configuration.faultRetry = BackOff(first: silence / 11, jitterPercent: 0)
    }
  }
}

/// How a recorded gateway asked for the same again.
struct RecordedRetries {
  /// What came of a request before it was sent again.
  enum Reason: Sendable, Hashable {
    /// Code 429: too many requests.
    case throttled
    /// Another code than 200.
    case refused
    /// No answer.
    case silent
  }

  private var pauses: [Reason: [(attempt: Int, pause: Duration)]] = [:]
  /// The longest that an answer took.
  private(set) var longestAnswer = Duration.zero

  init(_ recorded: RecordedGateway) {
    var last: [Subdevice: (message: Message, time: Timestamp, attempt: Int)] = [:]
    for action in recorded.session.actions {
      if case .connect = action.kind { last = [:] }
      guard case .publish(let message) = action.kind, recorded.lineCall(of: message) != nil,
        let request = RecordedGatewayRequest(message.payload),
        let subdevice = request.elements.first?.subdevice
      else { continue }
      let time = action.place.time
      if let reply = recorded.reply(to: message) {
        longestAnswer = max(longestAnswer, .nanoseconds(reply.time.nanoseconds(since: time)))
      }
      var attempt = 0
      if let (before, sentAt, number) = last[subdevice], before.topic == message.topic {
        let reply = recorded.reply(to: before).flatMap { $0.time <= time ? $0 : nil }
        if reply?.code != 200 {
          attempt = number + 1
          let reason: Reason = reply == nil ? .silent : reply?.code == 429 ? .throttled : .refused
          let pause = Duration.nanoseconds(time.nanoseconds(since: reply?.time ?? sentAt))
          pauses[reason, default: []].append((number, pause))
        }
      }
      last[subdevice] = (message, time, attempt)
    }
  }

  /// The shortest pause for a reason; nil when there was none.
  func pause(after reason: Reason) -> Duration? { pauses[reason]?.map(\.pause).min() }

  /// The first of pauses that each are twice the one before; nil when they do not grow so.
  func firstOfGrowing(after reason: Reason) -> Duration? {
    guard let all = pauses[reason], all.contains(where: { $0.attempt > 0 }) else { return nil }
    let firsts = all.map { $0.pause / (1 << min($0.attempt, 30)) }
    guard let least = firsts.min(), let most = firsts.max(), most < least * 3 / 2 else {
      return nil
    }
    return least
  }
}
