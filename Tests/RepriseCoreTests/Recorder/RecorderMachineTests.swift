import Testing

@testable import RepriseCore

/// What a recorder does, input by input.
@Suite struct RecorderMachineTests {
  private static let start = Timestamp(nanoseconds: 0)
  private static let wanted = [Subscription("a/#", qos: .exactlyOnce), Subscription("b")]

  private static func plan(
    duration: Duration? = nil, count: Int? = nil, interval: Duration? = nil,
    reconnects: Bool = true
  ) -> RecorderPlan {
    RecorderPlan(
      options: ConnectOptions(clientID: "r"), subscriptions: wanted, duration: duration,
      messageCount: count, fileInterval: interval, reconnects: reconnects)
  }

  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(seconds * 1e9))
  }

  /// A machine that records since second 0.
  private static func recording(_ plan: RecorderPlan) -> RecorderMachine {
    var machine = RecorderMachine(plan)
    _ = machine.handle(.started, now: start)
    #expect(subscribe(&machine, at: 0) == [.tell(.subscribed(lowered: []))])
    return machine
  }

  /// Lets the server accept the connection and grant what is asked for.
  private static func subscribe(
    _ machine: inout RecorderMachine, at seconds: Double
  ) -> [RecorderMachine.Output] {
    let outputs = machine.handle(.received(.connected(.init())), now: time(seconds))
    #expect(outputs.first == .tell(.connected))
    guard case .perform(let action)? = outputs.last else { return outputs }
    #expect(action.kind == .subscribe(wanted))
    return machine.handle(
      .received(.subscribed(action.id, [.exactlyOnce, .atLeastOnce])), now: time(seconds))
  }

  private static func isConnect(_ outputs: [RecorderMachine.Output]) -> Bool {
    guard case .perform(let action)? = outputs.last else { return false }
    return action.kind == .connect(ConnectOptions(clientID: "r"))
  }

  @Test func connectsAndSubscribes() {
    var machine = RecorderMachine(Self.plan())
    #expect(!machine.isOpen)
    #expect(Self.isConnect(machine.handle(.started, now: Self.start)))
    #expect(machine.isOpen)
    #expect(machine.deadline == Self.time(30))
    _ = Self.subscribe(&machine, at: 1)
    #expect(machine.deadline == nil)
  }

  @Test func tellsOfALowerQoS() {
    var machine = RecorderMachine(Self.plan())
    _ = machine.handle(.started, now: Self.start)
    _ = machine.handle(.received(.connected(.init())), now: Self.start)
    let outputs = machine.handle(
      .received(.subscribed(.init(rawValue: 2), [.atMostOnce, .atLeastOnce])), now: Self.start)
    #expect(outputs == [.tell(.subscribed(lowered: [Subscription("a/#", qos: .atMostOnce)]))])
  }

  @Test func failsWithoutAFilter() {
    var machine = RecorderMachine(Self.plan())
    _ = machine.handle(.started, now: Self.start)
    _ = machine.handle(.received(.connected(.init())), now: Self.start)
    let outputs = machine.handle(
      .received(.subscribed(.init(rawValue: 2), [.exactlyOnce, nil])), now: Self.start)
    #expect(outputs == [.fail(.notSubscribed(filter: "b"))])
    #expect(machine.isOpen)
  }

  @Test(arguments: [
    ClientEvent.Closed.refused(code: 5), .refused(code: 3), .lost("nobody there"), .byUser,
  ])
  func failsWithoutAFirstConnection(_ reason: ClientEvent.Closed) {
    var machine = RecorderMachine(Self.plan())
    _ = machine.handle(.started, now: Self.start)
    #expect(
      machine.handle(.received(.closed(reason)), now: Self.start) == [.fail(.notConnected(reason))])
    #expect(!machine.isOpen)
  }

  @Test func connectsAgainLaterAndLater() {
    var machine = Self.recording(Self.plan())
    var now = 100.0
    for delay in [1, 2, 4, 8, 16, 32, 60, 60] {
      let reason = ClientEvent.Closed.refused(code: 5)
      #expect(
        machine.handle(.received(.closed(reason)), now: Self.time(now))
          == [.tell(.lost(reason, retryAfter: .seconds(delay)))])
      #expect(!machine.isOpen)
      #expect(machine.deadline == Self.time(now + Double(delay)))
      now += Double(delay)
      #expect(machine.handle(.received(.deadline), now: Self.time(now - 0.5)).isEmpty)
      #expect(Self.isConnect(machine.handle(.received(.deadline), now: Self.time(now))))
    }
  }

  @Test(arguments: [(9.9, 2), (10, 1)])
  func takesAShortLifeForAFailure(seconds: Double, delay: Int) {
    var machine = Self.recording(Self.plan())
    let lost = RecorderMachine.Input.received(.closed(.lost("x")))
    _ = machine.handle(lost, now: Self.time(100))
    _ = machine.handle(.received(.deadline), now: Self.time(101))
    _ = Self.subscribe(&machine, at: 101)
    #expect(
      machine.handle(lost, now: Self.time(101 + seconds))
        == [.tell(.lost(.lost("x"), retryAfter: .seconds(delay)))])
  }

  @Test func staysAwayIfItIsTold() {
    var machine = Self.recording(Self.plan(reconnects: false))
    #expect(
      machine.handle(.received(.closed(.lost("x"))), now: Self.time(1)) == [
        .fail(.lost(.lost("x")))
      ])
  }

  @Test(arguments: [true, false]) func waitsForNoServerForEver(isConnected: Bool) {
    var machine = RecorderMachine(Self.plan())
    _ = machine.handle(.started, now: Self.start)
    if isConnected { _ = machine.handle(.received(.connected(.init())), now: Self.start) }
    #expect(machine.handle(.received(.deadline), now: Self.time(29)).isEmpty)
    guard
      case .perform(let action)? = machine.handle(.received(.deadline), now: Self.time(30)).first
    else {
      Issue.record("it waits")
      return
    }
    #expect(action.kind == .disconnect)
    let outputs = machine.handle(.received(.closed(.byUser)), now: Self.time(30))
    let reason = ClientEvent.Closed.lost("the server did not answer within 30 s")
    #expect(
      outputs
        == (isConnected
          ? [.tell(.lost(reason, retryAfter: .seconds(1)))] : [.fail(.notConnected(reason))]))
  }

  @Test func endsAfterMessages() {
    var machine = Self.recording(Self.plan(count: 3))
    let message = RecorderMachine.Input.received(.message(Message(topic: "a", payload: [])))
    #expect(machine.handle(message, now: Self.time(1)).isEmpty)
    _ = machine.handle(.received(.closed(.lost("x"))), now: Self.time(2))
    _ = machine.handle(.received(.deadline), now: Self.time(3))
    _ = Self.subscribe(&machine, at: 3)
    #expect(machine.handle(message, now: Self.time(4)).isEmpty)
    #expect(machine.handle(message, now: Self.time(4)) == [.end(.count)])
    #expect(machine.messages == 3)
    #expect(machine.isOpen)
  }

  @Test func endsInTime() {
    var machine = Self.recording(Self.plan(duration: .seconds(60)))
    #expect(machine.deadline == Self.time(60))
    #expect(machine.handle(.received(.deadline), now: Self.time(59.9)).isEmpty)
    // Waiting for another connection does not keep it from its end.
    _ = machine.handle(.received(.closed(.lost("x"))), now: Self.time(59.9))
    #expect(machine.deadline == Self.time(60))
    #expect(machine.handle(.received(.deadline), now: Self.time(60)) == [.end(.duration)])
  }

  @Test func failsWhenThereWasNoConnectionInTime() {
    var machine = RecorderMachine(Self.plan(duration: .seconds(5)))
    _ = machine.handle(.started, now: Self.start)
    #expect(
      machine.handle(.received(.deadline), now: Self.time(5))
        == [.fail(.notConnected(.lost("the server did not answer in time")))])
  }

  @Test func beginsAnotherFileEverySoOften() {
    var machine = RecorderMachine(Self.plan(interval: .seconds(20)))
    _ = machine.handle(.started, now: Self.start)
    #expect(machine.deadline == Self.time(30))
    // Counted from the first connection: before it there is no file.
    _ = Self.subscribe(&machine, at: 5)
    #expect(machine.deadline == Self.time(25))
    #expect(machine.handle(.received(.deadline), now: Self.time(25)) == [.startNextFile])
    _ = machine.handle(.received(.closed(.lost("x"))), now: Self.time(44))
    #expect(machine.deadline == Self.time(45))
    let outputs = machine.handle(.received(.deadline), now: Self.time(45))
    #expect(outputs.first == .startNextFile)
    #expect(Self.isConnect(outputs))
  }

  @Test func endsWithItsWorld() {
    var machine = Self.recording(Self.plan())
    #expect(machine.handle(.received(.ended), now: Self.time(1)) == [.end(.world)])
  }
}
