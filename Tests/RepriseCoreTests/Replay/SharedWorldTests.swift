import Testing

@testable import RepriseCore

/// Whose turn it is, without clients and tasks.
@Suite struct SharedWorldTests {
  private static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: seconds * 1_000_000_000)
  }

  private static func turn(_ seconds: Int64, _ kind: SharedWorld.Turn.Kind) -> SharedWorld.Turn {
    SharedWorld.Turn(time: time(seconds), kind: kind)
  }

  /// A world of two clients, of which the first has an event in hand that a task has read.
  private static func world() -> SharedWorld {
    var world = SharedWorld()
    for _ in 0..<2 { _ = world.join(tolerance: 0, nextAction: nil) }
    world.leave(0, by: 7)
    return world
  }

  /// The task that has something of one client in hand waits on the other one: nobody waits for it.
  @Test func aTaskDoesNotWaitForItself() {
    var world = Self.world()
    let answer = world.take(Self.turn(1, .event), at: 1, by: 7, isSettled: true)
    #expect(answer == .taken && world.now == Self.time(1) && world.heard == Self.time(1))
    #expect(world.isAbreast(0))
  }

  /// As a near miss, any other task does.
  @Test(arguments: [8, nil]) func othersWaitForIt(_ task: Int?) {
    var world = Self.world()
    let turn = Self.turn(1, .event)
    #expect(world.take(turn, at: 1, by: task, isSettled: true) == .wait)
    #expect(world.obstacle(to: 1) == .busy && world.next == nil)
    #expect(!world.isAbreast(0))
    world.overtakeBusySeats()
    #expect(world.obstacle(to: 1) == .none && world.next == 1)
    #expect(world.take(turn, at: 1, by: task, isSettled: false) == .nearly)
    #expect(world.take(turn, at: 1, by: task, isSettled: true) == .taken)
    // Its time stands where it was, until it waits for something that is later.
    #expect(!world.isAbreast(0))
    _ = world.take(Self.turn(2, .deadline), at: 0, by: 7, isSettled: false)
    #expect(world.isAbreast(0))
  }

  /// What comes first of two things at one moment, the one of the client that was made first or the other.
  @Test(
    arguments: [
      (.event, false, .event, false, 0), (.deadline, false, .event, false, 1),
      (.event, false, .deadline, false, 0), (.event, false, .deadline, true, 1),
      (.event, false, .event, true, 1), (.event, true, .deadline, true, 1),
      (.deadline, true, .deadline, true, 0), (.deadline, false, .action, true, 1),
    ] as [(SharedWorld.Turn.Kind, Bool, SharedWorld.Turn.Kind, Bool, Int)])
  func oneMomentHasAnOrder(
    _ first: SharedWorld.Turn.Kind, acts: Bool, _ second: SharedWorld.Turn.Kind, alsoActs: Bool,
    _ expected: Int
  ) {
    var world = SharedWorld()
    for acts in [acts, alsoActs] {
      _ = world.join(tolerance: 0, nextAction: acts ? Self.time(5) : nil)
    }
    _ = world.take(Self.turn(5, first), at: 0, by: nil, isSettled: false)
    _ = world.take(Self.turn(5, second), at: 1, by: nil, isSettled: false)
    #expect(world.next == expected)
  }

  /// An action of one client holds back what was recorded behind it on the other, and a deadline by its tolerance.
  @Test(
    arguments: [
      (5, .event, nil), (6, .event, 0), (7, .deadline, nil), (8, .deadline, 0), (6, .action, 0),
    ] as [(Int64, SharedWorld.Turn.Kind, Int?)])
  func actionsHoldBack(_ seconds: Int64, _ kind: SharedWorld.Turn.Kind, _ culprit: Int?) {
    var world = SharedWorld()
    _ = world.join(tolerance: 2_000_000_000, nextAction: Self.time(5))
    _ = world.join(tolerance: 0, nextAction: nil)
    let answer = world.take(Self.turn(seconds, kind), at: 1, by: nil, isSettled: true)
    #expect(answer == (culprit == nil ? .taken : .wait))
    guard let culprit else { return }
    #expect(world.obstacle(to: 1) == .action(of: culprit))
    world.note(nextAction: nil, at: 0)
    #expect(world.obstacle(to: 1) == .none)
  }
}
