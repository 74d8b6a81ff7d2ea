import DeviceSDK
import RepriseCore

/// The member of a shared recorded connection that did something, or was told something.
enum RecordedMember: Sendable, CaseIterable {
  /// The channel of an app, which opens and closes the connection.
  case channel
  /// The gateway that rides on it.
  case gateway

  /// Tells who has a topic or filter that nobody else has.
  /// - Parameter topic: The topic of an app below `app`, of a topology, of sessions of sub-devices or of registrations.
  init?(showingItselfBy topic: String) {
    let place = GatewayTopic(topic)
    if topic.hasPrefix("/ext/session/") || topic.hasPrefix("/ext/error/")
      || place?.isOfGateway == true
    {
      self = .gateway
    } else if place?.isOfApp == true {
      self = .channel
    } else {
      return nil
    }
  }

  /// Tells whose a topic or filter of a shared connection is: what names a device is the gateway's, but for what is
  /// below `app`; the rest is the channel's.
  init(of topic: String) {
    guard let place = GatewayTopic(topic), !place.isOfApp else {
      self = .channel
      return
    }
    self = .gateway
  }

  /// Tells whose an action of a shared connection is; nil for the connection itself, which is both's.
  init?(of action: ClientAction.Kind) {
    guard let topic = action.topics.first else { return nil }
    self.init(of: topic)
  }
}

extension GatewayTopic {
  fileprivate var isOfApp: Bool { path.hasPrefix("app/up/") || path.hasPrefix("app/down/") }
}

extension ClientAction.Kind {
  /// The topics and filters that it names.
  var topics: [String] {
    switch self {
    case .publish(let message): [message.topic]
    case .subscribe(let wanted): wanted.map(\.filter)
    case .unsubscribe(let filters): filters
    case .connect, .disconnect, .send, .sendText, .sendBinary: []
    }
  }
}

/// What one member of a shared connection does and is told, as if nobody else were there.
///
/// Its actions are numbered anew, from 0; the connection, its opening and its end are everybody's.
struct MemberDialogue: Sequence {
  private let dialogue: ReplayDialogue
  private let member: RecordedMember

  init(_ dialogue: ReplayDialogue, of member: RecordedMember) {
    self.dialogue = dialogue
    self.member = member
  }

  struct Iterator: IteratorProtocol {
    fileprivate var steps: ReplayDialogue.Iterator
    fileprivate let member: RecordedMember
    private var numbers: [ClientAction.ID: ClientAction.ID] = [:]
    private var count: UInt32 = 0

    fileprivate init(_ steps: ReplayDialogue.Iterator, _ member: RecordedMember) {
      self.steps = steps
      self.member = member
    }

    mutating func next() -> ReplayDialogue.Step? {
      while let step = steps.next() {
        guard let content = own(step.content) else { continue }
        return .init(place: step.place, content: content, isImplied: step.isImplied)
      }
      return nil
    }

    private mutating func own(_ content: ReplayDialogue.Content) -> ReplayDialogue.Content? {
      switch content {
      case .action(let action):
        guard RecordedMember(of: action.kind) ?? member == member else { return nil }
        let id = ClientAction.ID(rawValue: count)
        count += 1
        numbers[action.id] = id
        return .action(ClientAction(id, action.kind))
      case .event(let event): return own(event).map { .event($0) }
      }
    }

    private func own(_ event: ClientEvent) -> ClientEvent? {
      switch event {
      case .subscribed(let id, let granted): numbers[id].map { .subscribed($0, granted) }
      case .unsubscribed(let id): numbers[id].map { .unsubscribed($0) }
      case .published(let id): numbers[id].map { .published($0) }
      case .failed(let id, let failure): numbers[id].map { .failed($0, failure) }
      case .response(let id, let response): numbers[id].map { .response($0, response) }
      case .message(let message): RecordedMember(of: message.topic) == member ? event : nil
      case .connected, .closed, .text, .binary, .deadline, .woken, .ended: event
      }
    }
  }

  func makeIterator() -> Iterator { Iterator(dialogue.makeIterator(), member) }
}
