package import RepriseCore

/// A server of links as a value: what links send goes in, what they are told comes out.
///
/// It takes users in, answers heartbeats, and tells each channel who comes and goes. A link that is
/// silent for its interval and ten seconds more is suspect; if it stays silent for the user's presence
/// time-out as well, the others are told, and the user's temporary states are gone. A user who comes back
/// before that was never away. Silence counts from the last heartbeat or greeting: that the broker
/// loses a connection is no reason to tell anybody.
///
/// Locks, storage and history are no part of it.
package struct LinkServiceMachine: Sendable {
  /// What happened.
  package enum Input: Sendable, Hashable {
    /// A message of a link came.
    case received(Message)
    /// The test or the tool wants a user of an app thrown out, for a reason of the vendor's.
    case commandedKick(app: String, user: String, reason: Int)
    /// Time has passed, and nothing else happened.
    case timePassed
  }

  /// How the server behaves from now on.
  package var rules: LinkServiceRules { didSet { presence.rules = rules } }
  var accounts: [LinkUser: LinkAccount] = [:]
  var presence: LinkPresenceBoard
  var topics = LinkTopicBoard()
  var outputs: [Message] = []
  /// Not after the first deadline of any link, when all are looked at.
  private var nextLook: Timestamp?
  /// How many links of the message service were connected at once at most; streams do not count.
  package private(set) var peakConnectionCount = 0

  /// Creates a server without users.
  /// - Parameter rules: How it behaves.
  package init(_ rules: LinkServiceRules = LinkServiceRules()) {
    self.rules = rules
    presence = LinkPresenceBoard(rules)
  }

  /// When the server may have something to say; nil is when it is asked.
  package var deadline: Timestamp? { earlier(nextLook, presence.deadline) }

  /// How many links of the message service are connected, as far as the broker has told.
  package var connectionCount: Int {
    accounts.values.count { $0.line?.isConnected ?? false }
  }

  /// The users whose link has been silent for longer than its interval and ten seconds, in order.
  /// - Parameter now: The time.
  /// - Returns: The users' identifiers.
  package func suspects(at now: Timestamp) -> [String] {
    let silent = accounts.filter { $0.value.line.map { $0.suspectTime <= now } ?? false }
    return silent.map(\.key.user).sorted()
  }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When; never before the time of an earlier input.
  /// - Returns: The messages to send, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Message] {
    look(now)
    switch input {
    case .received(let message): if !rules.isDeaf { receive(message, now) }
    case .commandedKick(let app, let user, let reason):
      throwOut(LinkUser(app: app, user: user), reason, now)
    case .timePassed: break
    }
    flush(now)
    defer { outputs = [] }
    return outputs
  }

  /// Puts what channels are told behind what was said before.
  mutating func flush(_ now: Timestamp) { outputs += presence.take(now) }

  // MARK: Messages

  private mutating func receive(_ message: Message, _ now: Timestamp) {
    guard let (address, verb) = LinkAddress.parse(message.topic) else { return }
    switch verb {
    case "ping": answerPing(message, address, now)
    case "lost": changeLine(of: address) { $0.isConnected = false }
    default:
      let request = LinkServiceRequest(parsing: message.payload)
      if let channel = address.streamChannel {
        receive(verb, request, address, stream: channel, now)
      } else {
        receive(verb, request, address, now)
      }
    }
  }

  private mutating func answerPing(_ message: Message, _ address: LinkAddress, _ now: Timestamp) {
    // A link that is not known gets no answer, and will greet again.
    guard changeLine(of: address, { $0.lastHeard = now }) else { return }
    outputs.append(Message(topic: address.down("pong"), payload: message.payload))
  }

  func line(of address: LinkAddress) -> LinkLine? {
    let account = accounts[address.user]
    let line = address.streamChannel.map { account?.streams[$0] } ?? account?.line
    return line?.address == address ? line : nil
  }

  /// Changes what is known of a link.
  /// - Returns: Whether the link is known.
  @discardableResult
  mutating func changeLine(of address: LinkAddress, _ change: (inout LinkLine) -> Void) -> Bool {
    guard var line = line(of: address) else { return false }
    change(&line)
    keep(line)
    return true
  }

  /// Knows a link from now on.
  mutating func keep(_ line: LinkLine) {
    if let channel = line.address.streamChannel {
      accounts[line.address.user]?.streams[channel] = line
    } else {
      accounts[line.address.user]?.line = line
    }
  }

  /// Takes a link that has greeted.
  mutating func take(_ line: LinkLine) {
    keep(line)
    nextLook = earlier(nextLook, line.deadline)
    peakConnectionCount = max(peakConnectionCount, connectionCount)
  }

  // MARK: Time

  /// Looks at all links, if it is time.
  private mutating func look(_ now: Timestamp) {
    // Each heartbeat moves a deadline away and none moves nearer, so that most looks are not needed.
    guard let nextLook, nextLook <= now else { return }
    for user in accounts.keys.sorted() { look(at: user, now) }
    self.nextLook = accounts.values.lazy.flatMap { account in
      [account.line?.deadline, account.streams.values.map(\.deadline).min()].compactMap { $0 }
    }.min()
  }

  private mutating func look(at user: LinkUser, _ now: Timestamp) {
    for (channel, line) in accounts[user]?.streams.sorted(by: { $0.key < $1.key }) ?? [] {
      if line.announceTime <= now {
        endStream(channel, of: user, .timeout, now)
      } else if line.tokenEnd <= now {
        kick(line, reason: Self.tokenExpired)
        endStream(channel, of: user, .leave, now)
      }
    }
    guard let line = accounts[user]?.line else { return }
    if line.announceTime <= now {
      endMessages(of: user, .timeout, now)
    } else if line.tokenEnd <= now {
      throwOut(user, Self.tokenExpired, now)
    }
  }
}
