package import RepriseCore

/// Which member gets what on a session that several share, as a value.
///
/// It renames actions on their way out, so that members need not know of each other, and gives every
/// event to those whom it concerns.
package struct SessionRouter: Sendable {
  /// A member as the router tells it from others, in the order in which they came.
  package typealias Seat = Int

  /// What a member is told.
  package struct Output: Sendable, Hashable {
    /// The member.
    package let seat: Seat
    /// What it is told.
    package let event: ClientEvent
  }

  /// What comes of an action: what the session's client is to do, and what members are told at once.
  package struct Outcome: Sendable, Hashable {
    /// What the session's client is to do.
    package var forwarded: ClientAction?
    /// What members are told at once.
    package var told: [Output] = []
  }

  /// A member's view of the connection.
  private enum Link {
    case closed, connecting, open, leaving
  }

  private struct Member {
    let isOwner: Bool
    var link = Link.closed
    var filters: [String: Wish] = [:]
  }

  private struct Wish {
    let qos: QoS
    let matcher: TopicFilter?
  }

  private struct Open {
    let seat: Seat
    let action: ClientAction
  }

  private var members: [Seat: Member] = [:]
  private var lastSeat = -1
  private var actions = ActionBook<Open>()
  private var connection: ClientEvent.Connected?

  private var seats: [Seat] { members.keys.sorted() }

  /// Creates a session that nobody has joined.
  package init() {}

  // MARK: Members

  /// Takes in a member.
  /// - Parameter isOwner: Whether it opens and closes the connection.
  /// - Returns: Its seat.
  package mutating func join(isOwner: Bool) -> Seat {
    lastSeat += 1
    members[lastSeat] = Member(isOwner: isOwner)
    return lastSeat
  }

  mutating func leave(_ seat: Seat) {
    members[seat] = nil
    actions.purposes = actions.purposes.filter { $0.value.seat != seat }
  }

  // MARK: Actions

  /// Takes an action of a member.
  /// - Throws: `DataClientError` when it can't be performed as things are.
  package mutating func perform(
    _ action: ClientAction, of seat: Seat
  ) throws(DataClientError) -> Outcome {
    guard let member = members[seat] else {
      throw DataClientError(.notConnected, "the client has left the session")
    }
    switch (action.kind, member.link) {
    case (.connect, .closed): return connect(seat, action)
    case (.connect, _): throw DataClientError(.invalidAction, "there is a connection already")
    case (.disconnect, .open), (.disconnect, .connecting): return disconnect(seat, action)
    case (_, .open): break
    case (_, _): throw DataClientError(.notConnected, "there is no connection")
    }
    switch action.kind {
    case .subscribe(let wishes): return subscribe(seat, action, wishes)
    case .unsubscribe(let filters): return unsubscribe(seat, action, filters)
    case .connect, .disconnect, .publish, .send, .sendText, .sendBinary:
      return Outcome(forwarded: forward(action.kind, action, seat))
    }
  }

  private mutating func connect(_ seat: Seat, _ action: ClientAction) -> Outcome {
    guard members[seat]?.isOwner == true, connection == nil else {
      guard let connection else {
        members[seat]?.link = .connecting
        return Outcome()
      }
      members[seat]?.link = .open
      return Outcome(told: [Output(seat: seat, event: .connected(connection))])
    }
    members[seat]?.link = .connecting
    return Outcome(forwarded: forward(action.kind, action, seat))
  }

  /// An owner closes the connection for all, a rider its view of it.
  private mutating func disconnect(_ seat: Seat, _ action: ClientAction) -> Outcome {
    if members[seat]?.isOwner == true {
      members[seat]?.link = .leaving
      return Outcome(forwarded: forward(action.kind, action, seat))
    }
    let unused = connection == nil ? [] : filters(onlyOf: seat)
    members[seat]?.link = .closed
    members[seat]?.filters = [:]
    actions.purposes = actions.purposes.filter { $0.value.seat != seat }
    return Outcome(
      forwarded: unused.isEmpty ? nil : ClientAction(actions.open(for: nil), .unsubscribe(unused)),
      told: [Output(seat: seat, event: .closed(.byUser))])
  }

  /// Returns the filters of a member that no other one has, which are taken back when it goes.
  package func filters(onlyOf seat: Seat) -> [String] {
    let others = members.filter { $0.key != seat }
    return (members[seat]?.filters.keys.sorted() ?? []).filter { filter in
      !others.contains { $0.value.filters[filter] != nil }
    }
  }

  private mutating func subscribe(
    _ seat: Seat, _ action: ClientAction, _ wishes: [Subscription]
  ) -> Outcome {
    var asked: [Subscription] = []
    for wish in wishes {
      // A server replaces the QoS of a filter: the others would get less than they asked for.
      let qos = members.values.compactMap { $0.filters[wish.filter]?.qos }.max() ?? wish.qos
      asked.append(Subscription(wish.filter, qos: max(qos, wish.qos)))
      // Messages may come before SUBACK does.
      members[seat]?.filters[wish.filter] = Wish(
        qos: wish.qos, matcher: TopicFilter(wish.filter))
    }
    return Outcome(forwarded: forward(.subscribe(asked), action, seat))
  }

  private mutating func unsubscribe(
    _ seat: Seat, _ action: ClientAction, _ filters: [String]
  ) -> Outcome {
    for filter in filters { members[seat]?.filters[filter] = nil }
    let unused = filters.filter { !isWanted($0) }
    guard !unused.isEmpty else {
      return Outcome(told: [Output(seat: seat, event: .unsubscribed(action.id))])
    }
    return Outcome(forwarded: forward(.unsubscribe(unused), action, seat))
  }

  private func isWanted(_ filter: String) -> Bool {
    members.values.contains { $0.filters[filter] != nil }
  }

  private mutating func forward(
    _ kind: ClientAction.Kind, _ action: ClientAction, _ seat: Seat
  ) -> ClientAction {
    ClientAction(actions.open(for: Open(seat: seat, action: action)), kind)
  }

  /// The session's client refused an action: it never happened.
  /// - Returns: Whose it was, and how that member has numbered it; nil when it is nobody's any more.
  @discardableResult
  package mutating func takeBack(_ id: ClientAction.ID) -> (seat: Seat, id: ClientAction.ID)? {
    guard let open = actions.close(id) else { return nil }
    switch open.action.kind {
    case .connect: members[open.seat]?.link = .closed
    case .disconnect: members[open.seat]?.link = connection == nil ? .connecting : .open
    case .subscribe(let wishes):
      for wish in wishes { members[open.seat]?.filters[wish.filter] = nil }
    case .unsubscribe, .publish, .send, .sendText, .sendBinary: break
    }
    return (open.seat, open.action.id)
  }

  // MARK: Events

  /// Gives an event to those whom it concerns.
  package mutating func receive(_ event: ClientEvent) -> [Output] {
    switch event {
    case .connected(let connected): return noteConnected(connected)
    case .closed(let reason): return noteClosed(reason)
    case .message(let message): return receivers(of: message).map { Output(seat: $0, event: event) }
    case .subscribed(let id, let granted):
      if let open = actions[id] { noteGranted(open, granted) }
      return answer(id) { .subscribed($0.action.id, granted) }
    case .unsubscribed(let id): return answer(id) { .unsubscribed($0.action.id) }
    case .published(let id): return answer(id) { .published($0.action.id) }
    case .response(let id, let response): return answer(id) { .response($0.action.id, response) }
    case .failed(let id, let failure): return answer(id) { .failed($0.action.id, failure) }
    case .ended: return seats.map { Output(seat: $0, event: .ended) }
    // Without topics nobody knows whom they are for.
    case .text, .binary:
      return seats.filter { members[$0]?.link == .open }.map { Output(seat: $0, event: event) }
    case .deadline, .woken: return []
    }
  }

  private mutating func answer(
    _ id: ClientAction.ID, _ event: (Open) -> ClientEvent
  ) -> [Output] {
    guard let open = actions.close(id) else { return [] }
    return [Output(seat: open.seat, event: event(open))]
  }

  private mutating func noteGranted(_ open: Open, _ granted: [QoS?]) {
    guard case .subscribe(let wishes) = open.action.kind else { return }
    for (wish, qos) in zip(wishes, granted) where qos == nil {
      members[open.seat]?.filters[wish.filter] = nil
    }
  }

  private mutating func noteConnected(_ connected: ClientEvent.Connected) -> [Output] {
    connection = connected
    actions.purposes = actions.purposes.filter { !$0.value.action.kind.isConnect }
    var outputs: [Output] = []
    for seat in seats where members[seat]?.link == .connecting {
      members[seat]?.link = .open
      outputs.append(Output(seat: seat, event: .connected(connected)))
    }
    return outputs
  }

  private mutating func noteClosed(_ reason: ClientEvent.Closed) -> [Output] {
    connection = nil
    actions.purposes = [:]
    var outputs: [Output] = []
    for seat in seats {
      guard let member = members[seat], member.link != .closed else { continue }
      members[seat]?.link = .closed
      members[seat]?.filters = [:]
      let isOthers = reason == .byUser && !member.isOwner
      outputs.append(
        Output(seat: seat, event: .closed(isOthers ? Self.closedByOwner : reason)))
    }
    return outputs
  }

  private static let closedByOwner = ClientEvent.Closed.lost(
    "the owner of the session has closed it")

  /// Those whose filters match; all when nobody's does, as some clouds send what nobody asked for.
  private func receivers(of message: Message) -> [Seat] {
    let open = seats.filter { members[$0]?.link == .open }
    let topic = message.topic.utf8Span.span
    var wanting: [Seat] = []
    for seat in open {
      guard let filters = members[seat]?.filters.values else { continue }
      for wish in filters where wish.matcher?.matches(topic) == true {
        wanting.append(seat)
        break
      }
    }
    return wanting.isEmpty ? open : wanting
  }
}

extension ClientAction.Kind {
  fileprivate var isConnect: Bool {
    if case .connect = self { true } else { false }
  }
}
