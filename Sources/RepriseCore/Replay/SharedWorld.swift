/// The clients of a ``SharedTime``: who waits for what, and whose turn it is.
///
/// It stands beside ``TurnTaking`` because it hands out nothing. A world that takes turns holds what has come for all
/// of its clients, gives it to them in the order in which it came, and lets time pass when nothing is left. Here each
/// client has a recording and a lock of its own. What its reader waits for is known only when it asks, and changes
/// with what is performed; events and deadlines of all clients come by their recorded times, each behind the actions
/// recorded before it; and those are waited for by a clock of the machine, and not for ever. So a reader is granted a
/// turn that it asks for, and asks again when it is rung.
struct SharedWorld: Sendable {
  /// What a reader waits for.
  struct Turn: Sendable, Equatable {
    /// What it is.
    enum Kind: Sendable {
      case event, action, deadline
    }

    let time: Timestamp
    let kind: Kind
  }

  /// What the reader of a client is at.
  enum Reader: Sendable, Equatable {
    /// The client was not used.
    case absent
    /// A task has something in hand; nil where an action was performed and nobody has read yet.
    case busy(by: Int?)
    /// It is busy, and nobody waits for it any more.
    case overtaken
    /// It neither reads nor has anything in hand.
    case resting
    /// It waits for its turn.
    case waiting(Turn)
    /// It waits for an action that is due.
    case due
    /// There is nothing more to wait for.
    case gone
  }

  /// Why a reader does not get what it waits for.
  enum Obstacle: Sendable, Equatable {
    /// It does.
    case none
    /// Others come first.
    case others
    /// A reader has something in hand.
    case busy
    /// A client has an action that was recorded before.
    case action(of: Int)
  }

  /// What becomes of a wish for a turn.
  enum Answer: Sendable {
    case taken
    /// It would be its turn; time moves when the app's tasks had a chance to do what they are at.
    case nearly
    case wait
  }

  private struct Seat {
    var reader = Reader.absent
    /// When the first action was recorded that is not performed.
    var nextAction: Timestamp?
    let tolerance: Int64
  }

  private var seats: [Seat] = []
  /// How far the time is.
  private(set) var now = Timestamp(nanoseconds: .min)
  /// The time of what a user got last.
  private(set) var heard = Timestamp(nanoseconds: .min)
  /// Counts everything that happens.
  private(set) var progress: UInt64 = 0

  /// Takes a client in.
  /// - Returns: Its number.
  mutating func join(tolerance: Int64, nextAction: Timestamp?) -> Int {
    seats.append(Seat(nextAction: nextAction, tolerance: tolerance))
    progress &+= 1
    return seats.count - 1
  }

  // MARK: Readers

  private mutating func set(_ number: Int, _ reader: Reader) {
    guard seats[number].reader != .gone, seats[number].reader != reader else { return }
    seats[number].reader = reader
    progress &+= 1
  }

  /// A reader waits for its turn.
  /// - Parameters:
  ///   - turn: What for.
  ///   - number: The client.
  ///   - task: The task that reads.
  ///   - isSettled: Whether the app's tasks had a chance to do what they are at.
  /// - Returns: Whether it has the turn.
  mutating func take(
    _ turn: Turn, at number: Int, by task: Int?, isSettled: Bool
  ) -> Answer {
    restSeats(readBy: task, but: number)
    set(number, .waiting(turn))
    guard next == number else { return .wait }
    guard isSettled || !mayBeOvertaken(turn, number) else { return .nearly }
    now = max(now, turn.time)
    if turn.kind != .action { heard = max(heard, turn.time) }
    progress &+= 1
    return .taken
  }

  /// Whether what the app's tasks are at may come before a turn: time moves, or an action of that moment is missing.
  private func mayBeOvertaken(_ turn: Turn, _ number: Int) -> Bool {
    seats.indices.contains { other in
      guard other != number, seats[other].reader != .gone else { return false }
      return turn.time > now || seats[other].nextAction == turn.time
    }
  }

  /// A reader waits for an action that is due.
  mutating func waitForAction(at number: Int, by task: Int?) {
    restSeats(readBy: task, but: number)
    set(number, .due)
  }

  /// A reader has got something.
  mutating func leave(_ number: Int, by task: Int?) { set(number, .busy(by: task)) }

  /// A reader was cancelled.
  mutating func rest(_ number: Int) { set(number, .resting) }

  /// A client has nothing more, or is broken.
  mutating func retire(_ number: Int) {
    set(number, .gone)
    seats[number].nextAction = nil
  }

  /// An action is performed: where nobody has read yet, somebody will.
  mutating func begin(_ number: Int) {
    if seats[number].reader == .absent { set(number, .busy(by: nil)) }
  }

  /// Notes what a client does not have to be waited for any more.
  mutating func note(nextAction: Timestamp?, at number: Int) {
    guard seats[number].nextAction != nextAction else { return }
    seats[number].nextAction = nextAction
    progress &+= 1
  }

  /// A task that waits on one client has nothing in hand of another.
  private mutating func restSeats(readBy task: Int?, but number: Int) {
    guard let task else { return }
    for other in seats.indices where other != number && seats[other].reader == .busy(by: task) {
      set(other, .resting)
    }
  }

  /// Waits no longer for the seats that are busy, as nothing has happened for long.
  mutating func overtakeBusySeats() {
    for number in seats.indices {
      guard case .busy(let task) = seats[number].reader else { continue }
      set(number, task == nil ? .resting : .overtaken)
    }
  }

  // MARK: Turns

  /// The client whose turn it is; nil when it is nobody's.
  var next: Int? {
    var first: (number: Int, turn: Turn)?
    for number in seats.indices {
      if case .busy = seats[number].reader { return nil }
      guard let turn = possibleTurn(of: number) else { continue }
      if let first, !isFirst(turn, of: number, beside: first.turn, of: first.number) { continue }
      first = (number, turn)
    }
    return first?.number
  }

  /// Whether a turn comes before that of a client which was made earlier.
  ///
  /// In a session that was recorded in virtual time all that comes of one thing is of one moment. It begins with a
  /// deadline, and what a client does at that moment may be what the others hear of.
  private func isFirst(
    _ turn: Turn, of number: Int, beside other: Turn, of otherNumber: Int
  ) -> Bool {
    guard turn.time == other.time else { return turn.time < other.time }
    return rank(of: turn, number) < rank(of: other, otherNumber)
  }

  /// The order of what comes at one moment.
  private func rank(of turn: Turn, _ number: Int) -> Int {
    let acts = seats[number].nextAction == turn.time
    switch turn.kind {
    case .deadline: return acts ? 0 : 4
    case .event: return acts ? 1 : 2
    case .action: return 3
    }
  }

  /// What a reader waits for, unless another client has an action before it.
  private func possibleTurn(of number: Int) -> Turn? {
    guard case .waiting(let turn) = seats[number].reader else { return nil }
    let mayCome = seats.indices.allSatisfy { other in
      guard other != number, let action = seats[other].nextAction else { return true }
      let late = turn.time.nanoseconds(since: action)
      return late <= (turn.kind == .deadline ? max(0, seats[other].tolerance) : 0)
    }
    return mayCome ? turn : nil
  }

  /// What keeps a reader waiting.
  func obstacle(to number: Int) -> Obstacle {
    let isBusy = seats.contains { if case .busy = $0.reader { true } else { false } }
    if isBusy { return .busy }
    if let next { return next == number ? .none : .others }
    var first: (number: Int, time: Timestamp)?
    for (number, seat) in seats.enumerated() {
      guard let time = seat.nextAction, time < first?.time ?? Timestamp(nanoseconds: .max) else {
        continue
      }
      first = (number, time)
    }
    return first.map { .action(of: $0.number) } ?? .others
  }

  /// Whether the time of a client is the shared one: its reader has nothing in hand that was earlier.
  func isAbreast(_ number: Int) -> Bool {
    switch seats[number].reader {
    case .absent, .resting, .due: true
    case .waiting(let turn): turn.time >= now
    case .busy, .overtaken, .gone: false
    }
  }
}
