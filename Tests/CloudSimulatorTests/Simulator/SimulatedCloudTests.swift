import CloudSimulator
import RepriseCore
import Testing

/// A device beside a cloud, event by event.
@Suite struct SimulatedCloudTests {
  @Test func answersBindAndRequestsAndPushes() async throws {
    let script = """
      {
        "tokens": {"stale": {"code": 2043}},
        "pushes": [{"topic": "/p", "payload": "tick", "after": 5, "every": 5, "times": 2}]
      }
      """
    let lines = try await withCloud(script) { device, cloud, _ in
      try await device.publish(up + "/account/bind", #"{"id":"1","params":{"iotToken":"stale"}}"#)
      var lines = try await device.lines()
      #expect(cloud.boundDevices.isEmpty)
      try await device.publish(up + "/account/bind", #"{"id":"2","params":{"iotToken":"good"}}"#)
      lines += try await device.lines()
      #expect(cloud.boundDevices == [lamp])
      try await device.publish(up + "/light/get", #"{"id":3,"params":{"a":1}}"#)
      lines += try await device.lines(for: .seconds(60))
      cloud.push(CloudPush(.payload(Array("now".utf8), topic: "/p")), to: lamp)
      return lines + (try await device.lines())
    }
    let bind = down + "/account/bind_reply "
    #expect(
      lines == [
        "published", bind + #"{"id":"1","code":2043,"message":"check iotToken failed"} q1"#,
        "published", bind + #"{"id":"2","code":200,"message":"success","data":{}} q1"#,
        "published",
        down + #"/light/get_reply {"id":3,"code":200,"message":"success","data":{"a":1}} q1"#,
        down + "/p tick q1", down + "/p tick q1", down + "/p now q1",
      ])
  }

  /// What nobody asked for in so many words is done without where the broker refuses it; the rest is served.
  @Test(arguments: [false, true])
  func doesWithoutWhatABrokerRefuses(_ isAskedFor: Bool) async throws {
    let broker = InProcessBroker()
    broker.refuseSubscriptions(to: "link/#")
    var script = CloudScript()
    if isAskedFor { script.links = LinkServiceRules() }
    script.serveEverything()
    let cloud = SimulatedCloud(script, broker: broker)
    let cloudClient = broker.client(named: "cloud")
    let (lacks, lacking) = AsyncStream<[String]>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await cloud.run(on: cloudClient) { lacking.yield($0) } }
      guard !isAskedFor else {
        let error = await #expect(throws: SimulatorError.self) { try await group.next() }
        #expect(error?.code == .notSubscribed)
        return
      }
      var iterator = lacks.makeAsyncIterator()
      #expect(
        await iterator.next() == ["link/+/message/+/+/up/+", "link/+/stream/+/+/+/up/+"])
      let peer = Peer(broker.client(named: "device"))
      try await peer.connect("device")
      _ = try await peer.client.next(before: nil)
      try await peer.subscribe("/sys/g/w/thing/topo/get_reply")
      _ = try await peer.client.next(before: nil)
      try await peer.publish("/sys/g/w/thing/topo/get", #"{"id":"1","params":{}}"#)
      #expect(try await peer.lines(for: .seconds(1)).last?.contains(#""code":200"#) == true)
      group.cancelAll()
    }
  }

  @Test(arguments: [
    (#""faults":["no-reply"]"#, []),
    (#""faults":["empty-payload"]"#, [down + "/x_reply  q1"]),
    (#""faults":["empty-payload","duplicate"]"#, [down + "/x_reply  q1", down + "/x_reply  q1"]),
    (#""faults":["empty-payload","wrong-topic"]"#, [down + "/x  q1"]),
    (#""faults":["not-json"]"#, [down + "/x_reply <html>503 Service Unavailable</html> q1"]),
    (#""faults":["drop-connection"]"#, ["lost: the broker has dropped the connection"]),
    (#""code":"500""#, [down + #"/x_reply {"id":"1","code":"500","message":"error"} q1"#]),
  ])
  func misbehavesAsTheScriptSays(rule: String, expected: [String]) async throws {
    let lines = try await withCloud(#"{"replies":[{\#(rule)}]}"#) { device, _, _ in
      try await device.publish(up + "/x", #"{"id":"1"}"#)
      return try await device.lines()
    }
    #expect(lines == ["published"] + expected)
  }

  @Test func answersLateInVirtualTime() async throws {
    let script = #"{"replies":[{"after":90,"faults":["empty-payload"]}]}"#
    try await withCloud(script) { device, _, _ in
      try await device.publish(up + "/x", #"{"id":"1"}"#)
      #expect(try await device.lines(for: .milliseconds(89_999)) == ["published"])
      #expect(try await device.client.next(before: nil) != .deadline)
      #expect(device.seconds == 90)
    }
  }

  /// The prefix of answers is longer than that of requests, and they have `_reply` besides.
  @Test(.timeLimit(.minutes(20)), arguments: [65_535, 65_528, 65_527])
  func goesOnAfterARequestWhoseAnswerHasNoTopic(length: Int) async throws {
    let topic = up + "/" + String(repeating: "x", count: length - up.utf8.count - 1)
    let lines = try await withCloud { device, _, _ in
      try await device.publish(topic, #"{"id":"1"}"#)
      let first = try await device.lines()
      try await device.publish(up + "/x", #"{"id":"2"}"#)
      return try await [first.count] + [device.lines().count]
    }
    #expect(lines == [length == 65_527 ? 2 : 1, 2])
  }

  @Test func refusesSubscriptions() async throws {
    let script = #"{"refusedSubscriptions":["/account/bind_reply"]}"#
    let lines = try await withCloud(script) { device, _, _ in
      try await device.subscribe(down + "/account/bind_reply")
      return try await device.lines()
    }
    #expect(lines == ["subscribed refused"])
  }

  @Test func connectsAgainAfterALoss() async throws {
    try await withCloud { device, _, broker in
      broker.refuseConnections(of: "cloud-simulator", code: 3, count: 2)
      broker.drop("cloud")
      try await device.publish(up + "/x", #"{"id":"1"}"#)
      // 1, 2 and 4 seconds; what was sent meanwhile is lost.
      #expect(try await device.lines(for: .milliseconds(7_001)) == ["published"])
      try await device.publish(up + "/x", #"{"id":"2"}"#)
      #expect(try await device.lines(for: .seconds(1)).count == 2)
    }
  }

  @Test(arguments: [UInt8(1), 2, 4, 5, 0x86, 0x87])
  func givesUpWhenItIsRefusedForGood(code: UInt8) async throws {
    let broker = InProcessBroker()
    broker.refuseConnections(code: code)
    let error = await #expect(throws: SimulatorError.self) {
      try await SimulatedCloud().run(on: broker.client(named: "cloud"))
    }
    #expect(error?.code == .refused)
  }

  @Test func givesUpAfterAsManyAttemptsAsAreAllowed() async throws {
    let broker = InProcessBroker()
    broker.refuseConnections(code: 3, count: 100)
    let start = broker.now
    let cloud = SimulatedCloud(retryLimit: 8)
    let error = await #expect(throws: SimulatorError.self) {
      try await cloud.run(on: broker.client(named: "cloud"))
    }
    #expect(error?.code == .unreachable)
    // 1, 2, 4, 8, 16, 32, 60 and 60 seconds.
    #expect(broker.now.nanoseconds(since: start) == 183_000_000_000)
  }

  @Test func needsToSeeWhatDevicesSend() async throws {
    let broker = InProcessBroker()
    broker.refuseSubscriptions(to: "#")
    let error = await #expect(throws: SimulatorError.self) {
      try await SimulatedCloud().run(on: broker.client(named: "cloud"))
    }
    #expect(error?.code == .notSubscribed)
  }

  @Test(.timeLimit(.minutes(20)), arguments: ["/sys/+/+/thing/#", "/ext/session/+/+/#"])
  func needsToSeeWhatGatewaysSend(refused: String) async throws {
    let broker = InProcessBroker()
    broker.refuseSubscriptions(to: refused)
    let cloud = SimulatedCloud(try CloudScript(#"{"gateway":{}}"#))
    let error = await #expect(throws: SimulatorError.self) {
      try await cloud.run(on: broker.client(named: "cloud"))
    }
    #expect(error?.code == .notSubscribed)
  }

  @Test(.timeLimit(.minutes(20))) func needsToBeHeardByDevices() async throws {
    let broker = InProcessBroker()
    broker.refuseMessages(to: down + "/#")
    let capabilities = InProcessClient.allCapabilities.union(.refusals)
    let client = broker.client(named: "cloud", capabilities: capabilities)
    let device = Peer(broker, "device")
    let cloud = SimulatedCloud()
    async let run: Void = cloud.run(on: client)
    try await device.connect("device")
    // The cloud subscribes first: it was made first.
    #expect(try await device.lines(for: .seconds(1)) == ["connected"])
    try await device.publish(up + "/x", #"{"id":"1"}"#)
    do {
      try await run
      Issue.record("the cloud goes on")
    } catch let error as SimulatorError {
      #expect(error.code == .notPublished)
      #expect(error.message.contains("not authorized (code 0x87)"))
    }
  }

  @Test(arguments: [
    (#"{"replies":[{},{"faults":["drop-connection"]}]}"#, "replies[1].faults"),
    (#"{"refusedSubscriptions":["/x"]}"#, "refusedSubscriptions"),
  ])
  func saysWhatARealBrokerCannotDo(json: String, key: String) async throws {
    let broker = InProcessBroker()
    let cloud = SimulatedCloud(try CloudScript(json))
    let error = await #expect(throws: SimulatorError.self) {
      try await cloud.run(on: broker.client(named: "cloud"))
    }
    #expect(error?.code == .needsBroker)
    #expect(error?.message.hasPrefix(key) == true)
  }

  @Test func endsWithItsWorld() async throws {
    let broker = InProcessBroker()
    let watcher = Peer(broker, "watcher")
    let client = broker.client(named: "cloud")
    let cloud = SimulatedCloud()
    async let run: Void = cloud.run(on: client)
    #expect(try await watcher.lines(for: .seconds(1)) == [])
    let error = await #expect(throws: SimulatorError.self) { try await cloud.run(on: client) }
    #expect(error?.code == .running)
    broker.end()
    try await run
  }

  @Test func saysGoodbyeWhenItIsCancelled() async throws {
    let broker = InProcessBroker()
    let watcher = Peer(broker, "watcher")
    try await watcher.connect("watcher")
    #expect(try await watcher.lines() == ["connected"])
    try await watcher.subscribe("will")
    let client = broker.client(named: "cloud")
    let will = Message(topic: "will", payload: [])
    let cloud = SimulatedCloud(options: ConnectOptions(clientID: "cloud", will: will))
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await cloud.run(on: client) }
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    #expect(try await watcher.lines(for: .seconds(1)) == ["subscribed 1"])
  }

  @Test func givesTheSameTranscriptEveryTime() async throws {
    let script = """
      {
        "replies": [
          {"topic": "/a", "after": 0.5}, {"topic": "/b", "faults": ["duplicate"]},
          {"request": 40, "faults": ["wrong-id"]}
        ],
        "pushes": [{"properties": {"A": 1}, "every": 0.75}, {"status": "offline", "on": "/a"}]
      }
      """
    var transcripts: Set<[String]> = []
    for _ in 0..<10 {
      let lines = try await withCloud(script) { device, _, _ in
        var lines: [String] = []
        for number in 0..<50 {
          let path = ["/a", "/b", "/c"][number % 3]
          try await device.publish(up + path, #"{"id":"\#(number)"}"#)
          lines += try await device.lines(for: .milliseconds(300))
          lines.append("\(device.seconds)")
        }
        return lines
      }
      transcripts.insert(lines)
    }
    #expect(transcripts.count == 1)
    #expect(transcripts.first?.count ?? 0 > 200)
  }
}
