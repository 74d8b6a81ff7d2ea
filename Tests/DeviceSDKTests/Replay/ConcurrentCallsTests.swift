import RepriseCore
import Testing
import Wire

@testable import DeviceSDK

/// Calls that an app makes without waiting for one another, on recordings in which requests and replies stand in any
/// order that is possible.
@Suite(.timeLimit(.minutes(20))) struct ConcurrentCallsTests {
  /// A call of the app, as it is recorded.
  struct Call: Sendable {
    var topic: String
    var params: JSONValue
    var data: JSONValue

    static let three = [
      Call(topic: "/light/get", params: ["room": 1], data: ["room": 1]),
      Call(topic: "/lamp/get", params: ["room": 2], data: ["room": 2]),
      Call(topic: "/light/get", params: ["room": 3], data: ["room": 3]),
    ]

    static let after = Call(topic: "/after", params: [:], data: [:])
  }

  /// How the packets around requests and replies lie.
  struct Layout: Sendable, CaseIterable {
    /// Whether all reply topics are subscribed to first, or each before the request that needs it.
    var subscribesFirst: Bool
    /// Whether a PUBACK comes right behind its request, or right before the reply.
    var acknowledgesAtOnce: Bool

    static var allCases: [Layout] {
      [true, false].flatMap { first in
        [true, false].map { Layout(subscribesFirst: first, acknowledgesAtOnce: $0) }
      }
    }
  }

  /// Every order of so many requests and their replies: a number the first time is the request, and the second time
  /// its reply.
  private static func interleavings(_ count: Int) -> [[Int]] {
    var found: [[Int]] = []
    func extend(_ order: [Int]) {
      guard order.count < 2 * count else { return found.append(order) }
      for call in 0..<count where order.count(where: { $0 == call }) < 2 { extend(order + [call]) }
    }
    extend([])
    return found
  }

  private static let permutations = [
    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
  ]

  // MARK: Running

  private static func configuration() throws -> ChannelConfiguration {
    var configuration = try SampleChannel.configuration()
    configuration.subscribesAll = false
    return configuration
  }

  /// Makes calls in an order, without waiting for one another, and then one more.
  private static func replay(
    _ calls: [Call], in order: [Int], on client: ReplayClient
  ) async throws -> [Int: JSONValue?] {
    let results = try await withChannel(on: client, configuration: configuration()) { channel in
      try await channel.start()
      let (replies, told) = AsyncStream.makeStream(of: (Int, ChannelResponse).self)
      for number in order {
        channel.invokeWithTopic(calls[number].topic, opts: nil, params: calls[number].params) {
          told.yield((number, $0))
        }
      }
      var results: [Int: JSONValue?] = [:]
      for await (number, response) in replies {
        if let error = response.error { throw error }
        results[number] = response.reply?.data
        if results.count == order.count { break }
      }
      _ = try await channel.invoke(Call.after.topic)
      return results
    }
    try client.finish()
    return results
  }

  private static func client(
    _ calls: [Call], _ order: [Int], _ layout: Layout, _ options: ReplayOptions? = nil
  ) throws -> ReplayClient {
    var session = RecordedCalls(layout)
    try session.begin()
    if layout.subscribesFirst { for call in calls { session.subscribe(call) } }
    for number in order { session.go(on: calls[number], number) }
    session.go(on: Call.after, calls.count)
    session.go(on: Call.after, calls.count)
    session.end()
    return try ReplayClient(session.events, options: options ?? ReplayOptions(roles: .channel))
  }

  // MARK: What is free

  /// 90 orders, four layouts and three orders of the calls: 1,080 runs, none of which diverges.
  @Test(arguments: Layout.allCases) func callsAtOnceMayComeInAnyOrder(layout: Layout) async throws {
    let recordings = Self.interleavings(3)
    #expect(recordings.count == 90)
    for (index, recording) in recordings.enumerated() {
      for shift in 0..<3 {
        let order = Self.permutations[(index + 2 * shift) % Self.permutations.count]
        let client = try Self.client(Call.three, recording, layout)
        do {
          let results = try await Self.replay(Call.three, in: order, on: client)
          #expect(results == [0: ["room": 1], 1: ["room": 2], 2: ["room": 3]])
        } catch {
          Issue.record("\(recording) \(layout), calls \(order): \(error)")
          return
        }
      }
    }
  }

  /// The same as apps write it; which call comes first is left to the tasks.
  @Test(arguments: Layout.allCases) func tasksMayBeginInAnyOrder(layout: Layout) async throws {
    for recording in Self.interleavings(3) {
      let client = try Self.client(Call.three, recording, layout)
      try await withChannel(on: client, configuration: Self.configuration()) { channel in
        try await channel.start()
        async let light = channel.invoke("/light/get", ["room": 1])
        async let lamp = channel.invoke("/lamp/get", ["room": 2])
        async let again = channel.invoke("/light/get", ["room": 3])
        let replies = try await [light, lamp, again]
        #expect(replies.map(\.data) == [["room": 1], ["room": 2], ["room": 3]], "\(recording)")
        _ = try await channel.invoke("/after")
      }
      try client.finish()
    }
  }

  // MARK: What is not

  private static let early = Layout(subscribesFirst: true, acknowledgesAtOnce: true)

  /// The second request carries what the first reply brought.
  ///
  /// Both have one reply topic, so that the order of the calls is that of the requests.
  @Test(arguments: [("t-4711-x", false), ("else", true)])
  func aRequestThatNeededAReplyDoesNotComeBeforeIt(ticket: String, isFree: Bool) async throws {
    let calls = [
      Call(topic: "/ticket", params: ["room": 1], data: ["ticket": "t-4711-x"]),
      Call(topic: "/ticket", params: ["ticket": .string(ticket)], data: [:]),
    ]
    let client = try Self.client(calls, [0, 0, 1, 1], Self.early)
    do {
      _ = try await Self.replay(calls, in: [1, 0], on: client)
      #expect(isFree)
    } catch {
      #expect(!isFree, "\(error)")
      #expect(client.divergence?.kind == .otherAction)
      #expect(client.divergence?.expected?.contains("/ticket") == true)
    }
  }

  @Test func anotherPayloadDiverges() async throws {
    var calls = Call.three
    let client = try Self.client(calls, [0, 0, 1, 1, 2, 2], Self.early)
    calls[2].params = ["room": 9]
    await #expect(throws: (any Error).self) {
      try await Self.replay(calls, in: [2, 1, 0], on: client)
    }
    #expect(client.divergence?.kind == .otherAction)
    #expect(client.divergence?.actual?.contains("9") == true)
  }

  @Test(arguments: [
    (ReplayOptions(match: .json, roles: .channel, order: .recorded), [1, 0, 2]),
    (ReplayOptions(match: .json, roles: .channel, order: .recorded), [0, 2, 1]),
    (ReplayOptions(match: .strict, roles: .channel), [1, 0, 2]),
  ])
  func theRecordedOrderIsHeldToWhereThatIsAskedFor(
    options: ReplayOptions, order: [Int]
  ) async throws {
    let client = try Self.client(Call.three, [0, 0, 1, 1, 2, 2], Self.early, options)
    await #expect(throws: (any Error).self) {
      try await Self.replay(Call.three, in: order, on: client)
    }
    #expect(client.divergence?.kind == .otherAction)
  }

  /// An app that waits for each reply, in another order than the recorded one, waits for what does not come.
  @Test func anAppThatWaitsInAnotherOrderIsStalled() async throws {
    let patience = ReplayPatience.limited(.milliseconds(100), by: ContinuousClock())
    let client = try Self.client(
      Call.three, [0, 0, 1, 1, 2, 2], Self.early,
      ReplayOptions(roles: .channel, patience: patience))
    let error = await #expect(throws: DataClientError.self) {
      try await withChannel(on: client, configuration: Self.configuration()) { channel in
        try await channel.start()
        _ = try await channel.invoke("/lamp/get", ["room": 2])
        _ = try await channel.invoke("/light/get", ["room": 1])
      }
    }
    #expect(error?.code == .diverged)
    #expect(client.divergence?.kind == .missingAction)
    #expect(client.divergence?.expected?.contains("/light/get") == true)
  }
}

/// Writes calls down as a capture would have them.
private struct RecordedCalls {
  private(set) var events: [Event] = []
  private let layout: ConcurrentCallsTests.Layout
  private var subscribed: Set<String> = []
  /// The identifiers of the requests that are open, by the call.
  private var open: [Int: UInt16] = [:]
  private var lastPacket: UInt16 = 0
  private var lastRequest: UInt16 = 0

  init(_ layout: ConcurrentCallsTests.Layout) { self.layout = layout }

  private mutating func add(_ sender: Peer, _ body: Event.Body) {
    let start: Int64 = 1_750_000_000_000_000_000
    let time = Timestamp(nanoseconds: start + Int64(events.count) * 1_000_000)
    events.append(
      Event(
        EventContext(
          time: time, frame: events.count + 1, connection: 1, sender: sender, wire: .mqtt(.v3_1_1)),
        body))
  }

  private mutating func add(_ sender: Peer, _ content: MQTTPacket.Content) {
    let bytes = (try? MQTTPacket(content, version: .v3_1_1).encoded()) ?? []
    add(sender, .mqtt(PacketBytes(bytes)))
  }

  mutating func begin() throws {
    let identity = try SampleChannel.identity()
    add(
      .client,
      .connect(
        .init(
          clientID: identity.mqttClientID, cleanStart: true, keepAlive: 60,
          username: identity.clientID)))
    add(.server, .connack(.init()))
  }

  mutating func subscribe(_ call: ConcurrentCallsTests.Call) {
    let filter = "\(SampleChannel.down)\(call.topic)_reply"
    guard subscribed.insert(filter).inserted else { return }
    lastPacket += 1
    add(.client, .subscribe(packetID: lastPacket, [.init(filter, options: 1)], []))
    add(.server, .suback(packetID: lastPacket, codes: [1], []))
  }

  /// Sends the request of a call, or its reply when it was sent.
  mutating func go(on call: ConcurrentCallsTests.Call, _ number: Int) {
    if let request = open.removeValue(forKey: number) { return reply(to: call, request) }
    subscribe(call)
    lastPacket += 1
    lastRequest += 1
    // The request has an identifier of its own, and the packet another.
    open[number] = lastRequest << 8 | lastPacket
    let payload: JSONValue = [
      "id": .string("\(lastRequest)"), "version": "1.0", "request": ["clientId": "dev1&a1pk"],
      "params": call.params,
    ]
    publish(.client, "\(SampleChannel.up)\(call.topic)", payload, id: lastPacket)
    if layout.acknowledgesAtOnce { acknowledge(lastPacket) }
  }

  private mutating func reply(to call: ConcurrentCallsTests.Call, _ request: UInt16) {
    if !layout.acknowledgesAtOnce { acknowledge(request & 0xFF) }
    let payload: JSONValue = ["id": .string("\(request >> 8)"), "code": 200, "data": call.data]
    publish(.server, "\(SampleChannel.down)\(call.topic)_reply", payload, id: nil)
  }

  private mutating func acknowledge(_ id: UInt16) {
    add(.server, .acknowledgement(.puback, packetID: id, .init()))
  }

  private mutating func publish(
    _ sender: Peer, _ topic: String, _ payload: JSONValue, id: UInt16?
  ) {
    add(
      sender,
      .publish(
        .init(topic: topic, payload: payload.utf8, qos: id == nil ? 0 : 1, packetID: id ?? 0)))
  }

  mutating func end() {
    add(.client, .disconnect(.init()))
    add(
      .client,
      .closed(
        ConnectionClosing(
          how: .fin, firstFrame: events.count + 1,
          firstTime: events.last?.context.time ?? Timestamp(nanoseconds: 0))))
  }
}
