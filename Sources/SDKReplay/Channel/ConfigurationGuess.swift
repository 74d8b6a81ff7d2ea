import DeviceSDK
import RepriseCore

/// The configuration under which a channel does of itself what a recorded client did of itself.
struct ConfigurationGuess {
  var configuration: ChannelConfiguration
  var notes: [String] = []
  private let session: RecordedSession
  private let topics: ChannelTopics

  init(
    _ session: RecordedSession, _ identity: ChannelIdentity, _ topics: ChannelTopics,
    _ connect: ConnectOptions?
  ) {
    self.session = session
    self.topics = topics
    configuration = ChannelConfiguration(appKey: "replay", identity: identity)
    if let connect { take(connect) }
    takeQualities()
    configuration.subscribesAll = subscribesAll
    takeReconnecting()
    takeBinding()
  }

  // MARK: Connecting

  private mutating func take(_ connect: ConnectOptions) {
    configuration.keepAlive = connect.keepAlive
    configuration.takesAnyKeepAlive = true
    configuration.cleanStart = connect.cleanStart
    configuration.will = connect.will
    if !connect.cleanStart, resumes { configuration.resubscription = .unlessSessionPresent }
  }

  /// Whether the client left it at what the server had kept.
  private var resumes: Bool {
    var asked: Set<String> = []
    for (number, action) in session.actions.enumerated() {
      if case .subscribe(let wanted) = action.kind { asked.formUnion(wanted.map(\.filter)) }
      guard action.isSessionPresent == true, !action.isImplied, !asked.isEmpty else { continue }
      guard number + 1 < session.actions.count,
        case .subscribe(let wanted) = session.actions[number + 1].kind,
        wanted.contains(where: { asked.contains($0.filter) })
      else { return true }
    }
    return false
  }

  private mutating func takeQualities() {
    for action in session.actions.reversed() {
      switch action.kind {
      case .publish(let message): configuration.publishQoS = message.qos
      case .subscribe(let wanted):
        if let first = wanted.first { configuration.subscribeQoS = first.qos }
      default: continue
      }
    }
    configuration.firstRequestID = firstRequestID ?? configuration.firstRequestID
  }

  /// The number of the first request; with it, requests have the recorded numbers.
  private var firstRequestID: UInt32? {
    for action in session.actions {
      guard case .publish(let message) = action.kind,
        let envelope = ChannelEnvelope(parsing: message.payload)
      else { continue }
      return UInt32(envelope.id)
    }
    return nil
  }

  /// Whether the first thing that the client did when it was connected was to subscribe to everything.
  private var subscribesAll: Bool {
    for action in session.actions {
      switch action.kind {
      case .connect, .disconnect: continue
      case .subscribe(let wanted): return wanted.map(\.filter) == [topics.down + "/#"]
      default: return false
      }
    }
    return false
  }

  // MARK: Reconnecting

  private mutating func takeReconnecting() {
    session.patience.apply(
      connect: &configuration.connectTimeout, close: &configuration.closeTimeout)
    if let pause = session.shortestPause { configuration.reconnect = .exactly(pause) }
    guard session.goesOnWhenKicked(configuration.kickLimit, configuration.kickWindow) else {
      return
    }
    notes.append(
      "the app went on although it was kicked out \(configuration.kickLimit) times within "
        + "\(configuration.kickWindow.components.seconds) s, where the channel would have stopped")
    configuration.kickLimit = .max
  }

  // MARK: Binding

  /// Takes over how long the client waited before it bound anew, and how often it did.
  private mutating func takeBinding() {
    let rules = configuration
    let requests = session.actions.filter { action in
      guard case .publish(let message) = action.kind else { return false }
      return message.topic == topics.bind.text
    }
    var attempt = 1
    var pauses: [Int: Int64] = [:]
    for reply in session.bindReplies {
      guard let longest = Self.longestPause(after: reply.code, rules), attempt < rules.bindAttempts
      else {
        attempt = 1
        continue
      }
      let next = requests.first { $0.step > reply.step }
      guard let pause = next?.place.time.nanoseconds(since: reply.time), pause <= longest else {
        configuration.bindAttempts = min(configuration.bindAttempts, attempt)
        attempt = 1
        continue
      }
      attempt += 1
      pauses[reply.code] = max(0, min(pause, pauses[reply.code] ?? pause))
    }
    if let pause = pauses[2_152] { configuration.lockRetry = .exactly(.nanoseconds(pause)) }
    if let pause = pauses[429] { configuration.throttleRetry = .exactly(.nanoseconds(pause)) }
  }

  /// How long after a code a request still is a new try of the channel; nil when the code asks for none.
  private static func longestPause(after code: Int, _ rules: ChannelConfiguration) -> Int64? {
    switch code {
    case 2_152: rules.lockRetry.longest.clampedNanoseconds
    case 429: rules.throttleRetry.longest.clampedNanoseconds
    default: nil
    }
  }
}
