import DeviceSDK
import RepriseCore

/// What a gateway's connection had when a session began that begins in the middle of it, or what it had before it was
/// lost, as far as the session tells.
///
/// - A filter was there if it is taken back, or replies come by it, without its having been asked for; and if the
///   next connection asks for it at once.
/// - A sub-device was online if, before it is logged in, a command comes for it, the cloud takes what it sends, or it
///   is logged out; and if the next connection logs it in at once.
struct ConnectionBefore: Sendable {
  private enum Stage {
    /// On the connection that the session begins in the middle of.
    case connection
    /// Until the gateway asks for what it had.
    case loss
    /// While it logs in what was online.
    case restoring
    case over
  }

  private let gateway: Subdevice
  private var stage: Stage
  private var asked: Set<String> = []
  /// What was not asked for in the session.
  private var held: Set<String> = []
  /// What lines ask for when they come online, with the sub-devices.
  private var wished: [String: Subdevice] = [:]
  private var takenBack: Set<String> = []
  /// What the next connection asks for at once; nil without one.
  private var restored: Set<String>?
  private var isOnline: [Subdevice: Bool] = [:]
  /// Whether the connection was up when the session began; otherwise the gateway comes up in it, maybe again.
  private(set) var wasUp: Bool
  /// The sub-devices that get their commands without a login in the session, as it was under way when that began.
  private(set) var comingOnline: [Subdevice] = []

  /// Reads a session.
  /// - Parameters:
  ///   - dialogue: What the gateway's client and its server said to each other.
  ///   - gateway: The gateway.
  ///   - isOpen: Whether the session begins in the middle of a connection.
  init(
    _ dialogue: some Sequence<ReplayDialogue.Step>, of gateway: Subdevice, isOpen: Bool
  ) {
    self.gateway = gateway
    wasUp = isOpen
    stage = isOpen ? .connection : .loss
    for step in dialogue where stage != .over {
      switch step.content {
      case .action(let action): take(action.kind)
      case .event(.message(let message)): if stage == .connection { take(message) }
      case .event(.closed): stage = stage == .restoring ? .over : .loss
      case .event: continue
      }
    }
  }

  /// The sub-devices that were online.
  var online: [Subdevice] { isOnline.filter(\.value).keys.sorted() }

  /// The filters, each with the sub-device whose line had it; nil is the gateway itself.
  var filters: [(filter: String, subdevice: Subdevice?)] {
    held.union(wished.keys).sorted().compactMap { filter in
      if let device = wished[filter] { return (filter, device) }
      let isRestored = restored?.contains(filter)
      if isRestored != true, let device = GatewayTopic(filter)?.device, isOnline[device] == true {
        return (filter, device)
      }
      // The gateway's own come back with the next connection, unless they were taken back.
      return isRestored ?? true || takenBack.contains(filter) ? (filter, nil) : nil
    }
  }

  private mutating func hold(_ filters: some Sequence<String>) {
    for filter in filters where !asked.contains(filter) {
      if GatewayTopic(filter)?.isOfEveryGateway != true { held.insert(filter) }
    }
  }

  private mutating func note(_ subdevice: Subdevice, isOnline: Bool) {
    guard subdevice != gateway, self.isOnline[subdevice] == nil else { return }
    self.isOnline[subdevice] = isOnline
  }

  // MARK: Actions

  private mutating func take(_ action: ClientAction.Kind) {
    switch (action, stage) {
    case (.subscribe(let wanted), _): takeSubscription(wanted.map(\.filter))
    case (.unsubscribe(let filters), .connection):
      takenBack.formUnion(filters)
      hold(filters)
      for case let place? in filters.map(GatewayTopic.init) where place.isForCommands {
        note(place.device, isOnline: true)
      }
    case (.publish(let message), .connection): takeRequest(message, isOnlineBy: .logOut)
    case (.publish(let message), .restoring):
      if !takeRequest(message, isOnlineBy: .logIn) { stage = .over }
    // A gateway that is stopped forgets what it had.
    case (.unsubscribe, _), (.publish, _), (.disconnect, _): stage = .over
    case (.connect, _), (.send, _), (.sendText, _), (.sendBinary, _): return
    }
  }

  private mutating func takeSubscription(_ filters: [String]) {
    defer { asked.formUnion(filters) }
    let isComingUp = filters.contains { $0 == "/ext/error/\(gateway)" }
    switch stage {
    case .connection where !isComingUp: takeCommands(filters)
    case .connection, .loss:
      if stage == .connection, asked.isEmpty, held.isEmpty, isOnline.isEmpty { wasUp = false }
      restored = Set(filters)
      stage = .restoring
      hold(filters)
    // A reply topic alone is what a request begins with.
    case .restoring where filters.count > 1 || !filters.allSatisfy { $0.hasSuffix("_reply") }:
      takeWishes(filters.filter { GatewayTopic($0).flatMap { isOnline[$0.device] } == true })
    case .restoring, .over: return
    }
  }

  /// Takes what a line asks for that was logged in on this connection.
  private mutating func takeCommands(_ filters: [String]) {
    let commands = filters.compactMap(GatewayTopic.init).filter(\.isForCommands)
    guard let device = commands.first?.device else { return }
    takeWishes(filters)
    if isOnline[device] == nil { comingOnline.append(device) }
  }

  /// Takes what a line that comes online asks for besides its commands.
  private mutating func takeWishes(_ filters: [String]) {
    for filter in filters where !asked.contains(filter) {
      guard let place = GatewayTopic(filter), !place.isForCommands else { continue }
      wished[filter] = place.device
    }
  }

  /// Takes a request of the gateway's own, whose reply topic it has.
  /// - Returns: Whether its sub-devices are online by it.
  @discardableResult
  private mutating func takeRequest(_ message: Message, isOnlineBy call: LineCall) -> Bool {
    guard let place = GatewayTopic(message.topic), place.device == gateway, place.isOfGateway
    else { return false }
    if stage == .connection { hold([message.topic + "_reply"]) }
    guard let lineCall = place.lineCall else { return false }
    for (subdevice, _) in RecordedGatewayRequest(message.payload)?.elements ?? [] {
      note(subdevice, isOnline: lineCall == call)
    }
    return lineCall == call
  }

  // MARK: Messages

  private mutating func take(_ message: Message) {
    guard let place = GatewayTopic(message.topic) else { return }
    guard message.topic.hasSuffix("_reply") else {
      if place.isCommand { note(place.device, isOnline: true) }
      return
    }
    hold([message.topic])
    note(place.device, isOnline: ChannelEnvelope(parsing: message.payload)?.code == 200)
  }
}
