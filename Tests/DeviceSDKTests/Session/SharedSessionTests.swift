import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Two members on one client, in time.
@Suite struct SharedSessionTests {
  private let owner = ConnectOptions(clientID: "owner")

  private func perform(
    _ client: SharedClient, _ kind: ClientAction.Kind, id: UInt32 = 1
  ) async throws {
    try await client.perform(ClientAction(ClientAction.ID(rawValue: id), kind))
  }

  /// Reads events until one is wanted; the others are dropped.
  private func read(
    _ client: SharedClient, before deadline: Timestamp? = nil,
    until isWanted: (ClientEvent) -> Bool
  ) async throws -> ClientEvent {
    while true {
      let event = try await client.next(before: deadline)
      if isWanted(event) { return event }
    }
  }

  /// SDK-gateway-3.
  @Test func handsOutDeadlinesInTheirOrder() async throws {
    let broker = InProcessBroker()
    let session = SharedSession(on: broker.client(named: "shared"))
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    let start = broker.now
    let order = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for (client, seconds) in [(first, [3, 4, 9]), (second, [1, 4, 5])] {
        group.addTask {
          var times: [Int64] = []
          for second in seconds {
            let deadline = start.advanced(by: .seconds(second))
            let event = try await client.next(before: deadline)
            #expect(event == .deadline)
            times.append(client.now.nanoseconds(since: start) / 1_000_000_000)
          }
          client.leave()
          return times
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // No member is told late because another one waits longer.
    #expect(Set(order) == [[3, 4, 9], [1, 4, 5]])
  }

  @Test func connectsOnceAndClosesForAll() async throws {
    let broker = InProcessBroker()
    let session = SharedSession(on: broker.client(named: "shared"))
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await perform(second, .connect(ConnectOptions(clientID: "rider")))
        #expect(try await second.next(before: nil) == .connected(.init()))
        #expect(
          try await second.next(before: nil)
            == .closed(.lost("the owner of the session has closed it")))
        second.leave()
      }
      group.addTask {
        try await perform(first, .connect(owner))
        _ = try await read(first) { $0 == .connected(.init()) }
        let soon = first.now.advanced(by: .seconds(1))
        _ = try await read(first, before: soon) { $0 == .deadline }
        try await perform(first, .disconnect)
        _ = try await read(first) { $0 == .closed(.byUser) }
        first.leave()
      }
      try await group.waitForAll()
    }
  }

  @Test func wakesOnlyWhoIsMeant() async throws {
    let broker = InProcessBroker()
    let session = SharedSession(on: broker.client(named: "shared"))
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    let end = broker.now.advanced(by: .seconds(60))
    try await withThrowingTaskGroup(of: ClientEvent.self) { group in
      second.wake()
      group.addTask { try await second.next(before: end) }
      let wokenEvent = try await group.next()
      #expect(wokenEvent == .woken)
      second.leave()
      group.addTask { try await first.next(before: end) }
      let event = try await group.next()
      #expect(event == .deadline)
    }
    #expect(try await second.next(before: nil) == .ended)
  }

  @Test func readsOnWhenTheReaderIsCancelled() async throws {
    let broker = InProcessBroker()
    let session = SharedSession(on: broker.client(named: "shared"))
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    let end = broker.now.advanced(by: .seconds(60))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(throws: CancellationError.self) { try await first.next(before: nil) }
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    #expect(try await second.next(before: end) == .deadline)
  }

  @Test func lastsNoLongerThanTheNewestMemberWants() async {
    let client = ScriptedClient()
    let session = SharedSession(on: client)
    let first = session.awaitedClient(.owner)
    await withTaskGroup(of: ClientEvent?.self) { group in
      let (late, soon) = (
        client.now.advanced(by: .seconds(60)), client.now.advanced(by: .seconds(5))
      )
      group.addTask { try? await first.next(before: late) }
      #expect(await client.waitForDeadline(late))
      let second = session.awaitedClient(.rider)
      group.addTask { try? await second.next(before: soon) }
      #expect(await client.waitForDeadline(soon))
      first.leave()
      second.leave()
      group.cancelAll()
    }
  }

  @Test func lastsNoLongerThanWhoComesBackWants() async {
    let client = ScriptedClient()
    let session = SharedSession(on: client)
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    let (late, soon) = (client.now.advanced(by: .seconds(60)), client.now.advanced(by: .seconds(5)))
    await withTaskGroup(of: ClientEvent?.self) { group in
      group.addTask { try? await second.next(before: nil) }
      group.cancelAll()
      _ = await group.next()
    }
    await withTaskGroup(of: ClientEvent?.self) { group in
      group.addTask { try? await first.next(before: late) }
      #expect(await client.waitForDeadline(late), "nobody waits for who was cancelled")
      group.addTask { try? await second.next(before: soon) }
      #expect(await client.waitForDeadline(soon))
      first.leave()
      second.leave()
      group.cancelAll()
    }
  }

  @Test func breaksForAll() async throws {
    let session = SharedSession(
      on: ScriptedClient(
        capabilities: .messages, end: .broken(DataClientError(.diverged, "test"))))
    let members = [session.awaitedClient(.owner), session.awaitedClient(.rider)]
    let codes = await withTaskGroup(of: DataClientError.Code?.self) { group in
      for member in members {
        group.addTask {
          await #expect(throws: DataClientError.self) { try await member.next(before: nil) }?.code
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == [.diverged, .diverged])
  }

  @Test(arguments: [true, false])
  func allowsOneReaderPerMember(isAlone: Bool) async throws {
    let client = ScriptedClient()
    let session = SharedSession(on: client)
    let (first, second) = (session.awaitedClient(.owner), session.awaitedClient(.rider))
    // Alone, a member reads for all; otherwise it waits for the other one.
    if isAlone { first.leave() }
    let results = await withTaskGroup(of: ClientEvent?.self) { group in
      for _ in 0..<2 { group.addTask { try? await second.next(before: nil) } }
      var results = [await group.next() ?? nil]
      second.wake()
      results.append(await group.next() ?? nil)
      return results
    }
    #expect(results == [nil, .woken])
    first.leave()
  }

  /// A wake finds nobody who reads, and its member becomes the reader before it is told.
  @Test func aWokenReaderHasToComeBack() async throws {
    let world = TurnTaking(SessionWorld())
    let seat = world.with { $0.join(isOwner: true, isAwaited: true) }
    #expect(world.with { !$0.isReading(butFor: nil) })
    let turn = try await world.turn(of: seat, before: nil, now: { Timestamp(nanoseconds: 0) })
    guard case .read = turn else {
      Issue.record("\(turn)")
      return
    }
    #expect(world.with { !$0.isWokenReader(seat) })
    #expect(world.with { $0.wake(seat).isEmpty && $0.isWokenReader(seat) })
    world.with { $0.read(.woken) }
    #expect(world.with { !$0.isWokenReader(seat) })
  }

  @Test func whoReadsNothingHoldsUpNobodyAndFindsItAllLater() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    let session = SharedSession(on: client)
    let (first, second) = (session.client(.owner), session.client(.rider))
    try await perform(second, .connect(owner))
    try await perform(first, .connect(owner))
    #expect(try await first.next(before: nil) == .connected(.init()))
    let messages = (0..<3).map { ClientEvent.message(Message(topic: "t", payload: [$0])) }
    client.feed(messages)
    for message in messages { #expect(try await first.next(before: nil) == message) }
    // The other has begun to read: from here on each waits for the other.
    async let last = first.next(before: nil)
    #expect(try await second.next(before: nil) == .connected(.init()))
    for message in messages { #expect(try await second.next(before: nil) == message) }
    second.leave()
    client.feed(.closed(.lost("cut")))
    let end = try await last
    #expect(end == .closed(.lost("cut")))
  }

  @Test func keepsTheNewestMessagesForWhoDoesNotRead() throws {
    var world = SessionWorld()
    let seat = world.join(isOwner: true, isAwaited: true)
    let connect = ClientAction(.init(rawValue: 1), .connect(owner))
    #expect(try world.perform(connect, of: seat) != nil)
    world.read(.connected(.init()))
    for number in 0..<(SessionWorld.eventLimit + 5) {
      world.read(.message(Message(topic: "\(number)", payload: [])))
    }
    #expect(world.eventCount(of: seat) == SessionWorld.eventLimit)
  }

  /// SDK-gateway-3.
  @Test func carriesAChannelAndAnother() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    let session = SharedSession(on: client)
    try await withThrowingTaskGroup(of: [ClientEvent].self) { group in
      try await withChannel(on: session, configuration: SampleChannel.configuration()) { channel in
        let rider = session.client(.rider)
        group.addTask {
          try await perform(rider, .connect(ConnectOptions()))
          var events: [ClientEvent] = []
          while events.last != .closed(.lost("the owner of the session has closed it")) {
            let event = try await rider.next(before: nil)
            if event == .connected(.init()) {
              try await perform(rider, .subscribe([Subscription("/ext/#")]))
            }
            if event != .woken { events.append(event) }
          }
          rider.leave()
          return events
        }
        try await channel.start()
        let reply = try await channel.invoke("/a", ["x": 1])
        #expect(reply.data == ["x": 1])
        try await channel.stop()
      }
      let events = try await group.next() ?? []
      #expect(events.count == 3 && events.first == .connected(.init()))
      #expect(events.dropFirst().first == .subscribed(.init(rawValue: 1), [.atLeastOnce]))
    }
    let connects = client.performed.filter { if case .connect = $0.kind { true } else { false } }
    #expect(connects.count == 1)
  }
}
