import DeviceSDK
import RepriseCore
import TestSupport

@testable import CloudSimulator

/// Links of several users with a broker and a server, all of them values, in virtual time.
///
/// A link that is cut off hears nothing and is not heard, and neither side is told.
struct LinkWorld {
  private enum Machine {
    case message(MessageLinkMachine)
    case stream(StreamLinkMachine)
  }

  private struct Place {
    var machine: Machine
    /// The broker's side of the connection; another one for each.
    var seat: BrokerMachine.Seat?
    var isCut = false
    var lastCall: UInt64 = 0
  }

  static let start = ScriptedClient.start
  private static let serverSeat = 0

  private(set) var now = Self.start
  var service: LinkServiceMachine
  private var broker = BrokerMachine()
  private var places: [String: Place] = [:]
  private var lastSeat = Self.serverSeat
  private var queue: [BrokerMachine.Output] = []
  private(set) var lines: [String] = []
  private(set) var events: [String: [LinkStateEvent]] = [:]
  private(set) var presence: [String: [LinkPresenceEvent]] = [:]

  init(_ rules: LinkServiceRules = LinkServiceRules()) {
    service = LinkServiceMachine(rules)
    queue += broker.connect(Self.serverSeat, ConnectOptions(clientID: "server"))
    queue += broker.subscribe(
      Self.serverSeat, ClientAction.ID(rawValue: 1),
      LinkAddress.filters.map { Subscription($0) })
    settle()
  }

  var seconds: Double { Double(now.nanoseconds(since: Self.start)) / 1_000_000_000 }

  mutating func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  /// Returns what one link told since the last time, without times.
  mutating func take(of name: String) -> [String] {
    take().compactMap { line in
      let words = line.split(separator: " ")
      return words.dropFirst().first == name[...] ? words.dropFirst(2).joined(separator: " ") : nil
    }
  }

  // MARK: Users

  /// Brings in a link of a user that is logged in, and subscribed to a channel.
  mutating func add(
    _ user: String, session: String = "1", as name: String? = nil,
    in channels: [String] = ["lobby"],
    token: String = "t", heartbeat: Int = 5, presence: Int = 300
  ) throws {
    let name = name ?? user
    let configuration = LinkConfiguration(
      appID: "app", userID: user, sessionID: session, heartbeatInterval: .seconds(heartbeat),
      presenceTimeout: .seconds(presence))
    places[name] = Place(machine: .message(try MessageLinkMachine(configuration)))
    events[name] = []
    self.presence[name] = []
    call(name, .login(token: token))
    for channel in channels { call(name, .subscribe(channel, [.presence, .message])) }
  }

  /// Brings in a link of a user who has joined a stream channel.
  mutating func join(
    _ channel: String, _ user: String, session: String = "1", as name: String, presence: Int = 300,
    _ features: LinkJoinFeatures = .presence
  ) throws {
    let configuration = LinkConfiguration(
      appID: "app", userID: user, sessionID: session, presenceTimeout: .seconds(presence))
    places[name] = Place(machine: .stream(try StreamLinkMachine(channel, configuration)))
    events[name] = []
    self.presence[name] = []
    callStream(name, .join(token: "t", features))
  }

  func state(_ name: String) -> LinkState {
    switch places[name]?.machine {
    case .message(let machine): machine.state
    case .stream(let machine): machine.state
    case nil: .idle
    }
  }

  mutating func call(_ name: String, _ call: MessageLinkMachine.Call) {
    guard case .message(var machine) = places[name]?.machine else { return }
    let outputs = machine.handle(.called(nextCall(name), call), now: now)
    places[name]?.machine = .message(machine)
    take(outputs, of: name)
    settle()
  }

  mutating func callStream(_ name: String, _ call: StreamLinkMachine.Call) {
    guard case .stream(var machine) = places[name]?.machine else { return }
    let outputs = machine.handle(.called(nextCall(name), call), now: now)
    places[name]?.machine = .stream(machine)
    take(outputs, of: name)
    settle()
  }

  private mutating func nextCall(_ name: String) -> CallID {
    places[name]?.lastCall += 1
    return CallID(rawValue: places[name]?.lastCall ?? 0)
  }

  // MARK: Network and time

  /// Takes the network away from a link, or gives it back.
  mutating func cut(_ name: String, _ isCut: Bool = true) {
    places[name]?.isCut = isCut
    settle()
  }

  /// Breaks the connection of a link, of which both sides are told.
  mutating func lose(_ name: String) {
    guard let seat = places[name]?.seat else { return }
    queue += broker.lose(seat, "test")
    settle()
  }

  /// Lets the broker find out that a link is cut off.
  mutating func noticeCut(_ name: String) { lose(name) }

  mutating func kick(_ user: String, reason: Int) {
    send(service.handle(.commandedKick(app: "app", user: user, reason: reason), now: now))
    settle()
  }

  /// Lets time pass, with every deadline on the way.
  mutating func wait(_ seconds: Double) {
    let end = now.advanced(by: .nanoseconds(Int64(seconds * 1_000_000_000)))
    while let deadline = nextDeadline, deadline <= end {
      now = max(now, deadline)
      if service.deadline.map({ $0 <= now }) ?? false {
        send(service.handle(.timePassed, now: now))
      }
      for name in places.keys.sorted() where self.deadline(name).map({ $0 <= now }) ?? false {
        tell(name, .deadline)
        settle()
      }
      settle()
    }
    now = end
  }

  private func deadline(_ name: String) -> Timestamp? {
    switch places[name]?.machine {
    case .message(let machine): machine.deadline
    case .stream(let machine): machine.deadline
    case nil: nil
    }
  }

  private var nextDeadline: Timestamp? {
    (places.keys.map { deadline($0) } + [service.deadline]).compactMap { $0 }.min()
  }

  // MARK: What goes where

  private mutating func tell(_ name: String, _ event: ClientEvent) {
    switch places[name]?.machine {
    case .message(var machine):
      let outputs = machine.handle(.received(event), now: now)
      places[name]?.machine = .message(machine)
      take(outputs, of: name)
    case .stream(var machine):
      let outputs = machine.handle(.received(event), now: now)
      places[name]?.machine = .stream(machine)
      take(outputs, of: name)
    case nil: break
    }
  }

  private mutating func take(
    _ outputs: [MachineOutput<Void, LinkEffect, LinkError>], of name: String
  ) {
    for output in outputs {
      switch output {
      case .perform(let action): perform(action, name)
      case .complete(_, .success): break
      case .complete(_, .failure(let error)): note(name, "error \(error.code.rawValue)")
      case .tell(let effect): note(name, effect)
      }
    }
  }

  private mutating func perform(_ action: ClientAction, _ name: String) {
    guard let place = places[name] else { return }
    switch action.kind {
    case .connect(let options):
      guard !place.isCut else { return tell(name, .closed(.lost("no network"))) }
      lastSeat += 1
      places[name]?.seat = lastSeat
      queue += broker.connect(lastSeat, options)
    case .disconnect:
      if !place.isCut, let seat = place.seat { _ = broker.disconnect(seat) }
      places[name]?.seat = nil
      tell(name, .closed(.byUser))
    default:
      guard !place.isCut, let seat = place.seat else { return }
      switch action.kind {
      case .subscribe(let wanted): queue += broker.subscribe(seat, action.id, wanted)
      case .unsubscribe(let filters): queue += broker.unsubscribe(seat, action.id, filters)
      case .publish(let message):
        queue += broker.publish(
          seat, action.id, message, hearsRefusals: false)
      case .connect, .disconnect, .send, .sendText, .sendBinary: break
      }
    }
  }

  /// Hands out all that is on its way.
  private mutating func settle() {
    while !queue.isEmpty {
      let output = queue.removeFirst()
      if output.seat == Self.serverSeat {
        if case .message(let message) = output.event {
          send(service.handle(.received(message), now: now))
        }
        continue
      }
      // An older connection is nobody's any more, and who is cut off hears nothing.
      guard let name = places.first(where: { $0.value.seat == output.seat })?.key,
        let place = places[name], !place.isCut
      else { continue }
      if case .closed = output.event { places[name]?.seat = nil }
      tell(name, output.event)
    }
  }

  private mutating func send(_ messages: [Message]) {
    for message in messages {
      queue += broker.publish(
        Self.serverSeat, ClientAction.ID(rawValue: 2), message, hearsRefusals: false)
    }
  }

  // MARK: Telling

  private mutating func note(_ name: String, _ line: String) {
    lines.append("+\(LinkBench<MessageLinkMachine>.text(seconds)) \(name) \(line)")
  }

  private mutating func note(_ name: String, _ effect: LinkEffect) {
    switch effect {
    case .changeState(let event):
      events[name]?.append(event)
      note(name, "\(event.current) \(event.reason)")
    case .tellPresence(let event):
      presence[name]?.append(event)
      let states = event.user?.states.sorted { $0.key < $1.key }.map { "\($0)=\($1)" } ?? []
      let users = event.snapshot.map(\.userID) + [event.user?.userID].compactMap { $0 }
      note(name, ([event.kind.shortName] + users + states).joined(separator: " "))
    case .deliver(let message):
      let topic = message.topic.map { " in \($0)" } ?? ""
      note(name, "got \(message.text ?? "-") from \(message.publisher)\(topic)")
    case .tellTopics(let event): note(name, event.testLine)
    case .warnOfToken: note(name, "token ends")
    }
  }
}

extension LinkPresenceEvent.Kind {
  fileprivate var shortName: String {
    switch self {
    case .snapshot: "users"
    case .interval: "interval"
    case .remoteJoinChannel: "join"
    case .remoteLeaveChannel: "leave"
    case .remoteConnectionTimeout: "timeout"
    case .remoteStateChanged: "state"
    case .errorOutOfService: "unreadable"
    }
  }
}
