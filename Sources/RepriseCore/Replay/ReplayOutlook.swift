import Wire

/// What lies ahead of a replay, as far as anybody looked.
struct ReplayOutlook {
  /// An action of the session.
  struct Action {
    let number: Int
    /// Which of the session's actions it is, from 0.
    let ordinal: Int
    let event: Event
    /// The last entry before it that has a time of its own; nil when there is none.
    let lastTimed: Int?
    let precedence: ReplayPrecedence.Needs
    /// Whether it was performed.
    fileprivate(set) var isTaken = false
    /// Every action from this one to the one of this ordinal, without that one, was performed; its own when it was not.
    fileprivate var skip: Int
    /// What it is, once it was asked for.
    fileprivate var recorded: RecordedAction?
  }

  /// The end of a connection.
  struct End {
    let number: Int
    let connection: Int
    /// Whether the client may have left: it closed the connection, or nobody knows.
    let mayBeOfUser: Bool
  }

  /// The actions by their ordinals, from the first one that was not taken.
  private(set) var actions = ReplayQueue<Action>()
  /// Every action before this place was taken.
  private(set) var acted = 0
  /// The place behind the last action that was taken.
  private var taken = 0
  private var lastTimed: Int?
  private(set) var ends: [End] = []
  /// What is missing of the client.
  private(set) var holes: [(number: Int, event: Event)] = []
  /// How many entries were looked at.
  private(set) var end = 0
  private var precedence = ReplayPrecedence()
  /// The topics that the client gave aliases to, before the first action that nobody asked for.
  private(set) var aliases = AliasedTopics()
  private var decoded = 0
  /// The path of the URL of the server that requests are sent to.
  let requestBase: String

  init(requestBase: String) { self.requestBase = requestBase }

  /// The first action that was not taken, as far as anybody looked.
  var nextAction: Action? { actions.first }

  /// Whether whatever nobody looked at yet can only have been made after an action.
  func separates(_ action: Action) -> Bool { precedence.barrier >= action.number }

  /// Whether an action has one of those before it that it needs.
  func mayCome(_ action: Action) -> Bool {
    let oneOf = action.precedence.oneOf
    return oneOf.isEmpty || oneOf.contains { $0 < actions.start || actions[$0]?.isTaken == true }
  }

  /// Whether an action was performed although one before it was not.
  func isTaken(_ number: Int) -> Bool {
    var (low, high) = (actions.start, actions.end)
    while low < high {
      let middle = low + (high - low) / 2
      guard let action = actions[middle], action.number != number else {
        return actions[middle]?.isTaken == true
      }
      if action.number < number { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// Looks at an entry, unless that was done before.
  @inline(__always)
  mutating func note(_ entry: ReplayEntry, at number: Int) {
    guard number >= end else { return }
    end = number + 1
    switch entry.role {
    case .fromServer:
      lastTimed = number
      precedence.note(answer: entry.event)
    case .action:
      actions.append(
        Action(
          number: number, ordinal: actions.end, event: entry.event, lastTimed: lastTimed,
          precedence: precedence.note(action: entry.event, at: number, actions.end),
          skip: actions.end))
    case .closing:
      lastTimed = number
      precedence.separate()
      let context = entry.event.context
      let mayBeOfUser: Bool
      switch entry.event.body {
      case .closed(let closing):
        mayBeOfUser = closing.how == .endOfCapture || context.sender == .client
      case .attempted(let attempt): mayBeOfUser = attempt.how != .failed
      default: return
      }
      ends.append(
        End(number: number, connection: context.connection, mayBeOfUser: mayBeOfUser))
    case .hole:
      precedence.separate()
      if entry.event.context.sender == .client { holes.append((number, entry.event)) }
    case .nothing: return
    }
  }

  mutating func takeAction(at index: Int) {
    if let action = actions[index] { taken = max(taken, action.number + 1) }
    actions.change(index) { action in
      action.isTaken = true
      action.skip = index + 1
    }
    while let first = actions.first, first.isTaken { actions.removeFirst() }
    acted = actions.first?.number ?? taken
  }

  /// Returns the ordinal of the first action from a place on that was not performed, as far as anybody looked.
  ///
  /// Each way is shortened as it is gone, so that those which were performed cost next to nothing.
  mutating func untaken(from index: Int) -> Int {
    var index = max(index, actions.start)
    while let action = actions[index], action.isTaken {
      let next = actions[action.skip]?.skip ?? action.skip
      actions.change(index) { $0.skip = next }
      index = next
    }
    return index
  }

  /// Decodes an action; aliases are those that the ones before it gave.
  mutating func recorded(at index: Int) -> RecordedAction? {
    decoded = max(decoded, actions.start)
    while decoded <= index, decoded < actions.end {
      decode(decoded)
      decoded += 1
    }
    return actions[index]?.recorded
  }

  private mutating func decode(_ index: Int) {
    guard let event = actions[index]?.event else { return }
    if event.beginsConnection { aliases.removeAll() }
    let recorded = RecordedAction(event, aliases: aliases, below: requestBase)
    if event.packetType == .publish {
      event.withView { view in
        guard case .mqtt(let packet) = view.body else { return }
        _ = aliases.topic(of: packet)
      }
    }
    actions.change(index) { $0.recorded = recorded }
  }

  /// Forgets what stands before a place.
  @inline(__always)
  mutating func forget(before number: Int) {
    while let first = ends.first, first.number < number { ends.removeFirst() }
    while let first = holes.first, first.number < number { holes.removeFirst() }
  }
}
