import RepriseCore
import Testing

@testable import DeviceSDK

/// What goes up and down beside operations: messages, subscriptions, commands, topology.
@Suite struct GatewayMessageTests {
  private let sub = GatewayBench.sub

  // MARK: Up

  /// SDK-gateway-14.
  @Test func publishesInAnEnvelope() throws {
    var bench = try GatewayBench.connected()
    bench.call(
      "a", .publish(try FullTopic("/sys/a1gw/phone/thing/event/x/post"), method: nil, ["v": 1]))
    bench.call("b", .publish(try FullTopic("/a1gw/phone/user/x"), method: "m", []))
    #expect(
      bench.take() == [
        ##"PUBLISH1 /sys/{gw}/thing/event/x/post {"id":"#1","version":"1.0","##
          + #""method":"thing.event.x.post","params":{"v":1}}"#,
        "a ok",
        ##"PUBLISH1 /{gw}/user/x {"id":"#2","version":"1.0","method":"m","params":[]}"##, "b ok",
      ])
  }

  /// SDK-gateway-13.
  @Test func uploadsBytesAsTheyAre() throws {
    var bench = try GatewayBench.connected()
    bench.isTerse = false
    bench.call("a", .upload(try FullTopic("/t"), [0x00, 0x41], .atMostOnce))
    #expect(bench.take() == ["PUBLISH0 /t \u{0}A"])
    bench.acknowledge()
    #expect(bench.take() == ["a ok"])
    bench.call("b", .upload(try FullTopic("/t"), [], .exactlyOnce))
    bench.call("c", .upload(try FullTopic("/t/#"), [], .atMostOnce))
    bench.call("d", .invoke(.init(try FullTopic("/t/+"), params: [:])))
    #expect(bench.take() == ["b error 4201", "c error 4201", "d error 4201"])
    bench.call("e", .upload(try FullTopic("/t"), [], .atLeastOnce))
    _ = bench.take()
    bench.wait(10)
    #expect(bench.take() == ["e error 4102"])
  }

  @Test(
    arguments: [
      (.notConnected, "4101"), (.transport, "4101"), (.unsupported, "4201"),
      (.invalidAction, "4201"),
      (.diverged, "4102"),
    ] as [(DataClientError.Code, String)])
  func failsWhatTheClientRefuses(code: DataClientError.Code, kind: String) throws {
    var bench = try GatewayBench.line(in: .online)
    bench.isTerse = false
    bench.call("upload", .upload(try FullTopic("/t"), [], .atLeastOnce))
    bench.refuse(code)
    bench.call("subscribe", .subscribe(try FullTopic("/t"), for: nil))
    bench.refuse(code)
    try bench.post("reply topic")
    bench.refuse(code)
    bench.operate("logout", .logOut)
    bench.grant()
    bench.refuse(code)
    #expect(
      bench.take().filter { $0.contains("error") } == [
        "upload error \(kind)", "subscribe error \(kind)", "reply topic error \(kind)",
        "logout error \(kind)",
      ])
  }

  /// SDK-gateway-12.
  @Test func asksInTheFormOfTheTopic() throws {
    var bench = try GatewayBench.connected()
    bench.call("a", .invoke(.init(try FullTopic("/ext/session/a1gw/phone/x"), params: [:])))
    bench.call("b", .invoke(.init(try FullTopic("/a1gw/phone/user/x"), params: [:])))
    #expect(
      bench.take() == [
        ##"PUBLISH0 /ext/session/{gw}/x {"id":"#1","params":{}}"##,
        ##"PUBLISH1 /{gw}/user/x {"id":"#2","version":"1.0","params":{}}"##,
      ])
  }

  /// SDK-gateway-43.
  @Test func countsIdsAndNeverUsesOneTwice() throws {
    var bench = try GatewayBench.connected { $0.firstRequestID = .max }
    for name in ["a", "b", "c"] {
      bench.call(name, .invoke(.init(try FullTopic("/t"), params: [:])))
    }
    #expect(bench.requests.map(\.id) == ["4294967295", "0", "1"])
    // Once round, and the first still waits.
    bench.machine.nextRequestID = .max
    bench.call("d", .invoke(.init(try FullTopic("/t"), params: [:])))
    #expect(bench.requests.last?.id == "2")
  }

  // MARK: Subscriptions

  /// SDK-gateway-15.
  @Test func subscribesAndUnsubscribes() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.isTerse = false
    let filter = try FullTopic("/sys/123/test/thing/service/property/set")
    bench.call("s", .subscribe(filter, for: sub))
    #expect(bench.take() == ["SUBSCRIBE /sys/{sub}/thing/service/property/set"])
    bench.grant()
    #expect(bench.take() == ["s ok"])
    bench.call("u", .unsubscribe(filter, for: sub))
    #expect(bench.take() == ["UNSUBSCRIBE /sys/{sub}/thing/service/property/set"])
    bench.acknowledge()
    #expect(bench.take() == ["u ok"])
    bench.call("x", .subscribe(try FullTopic("/a#"), for: sub))
    bench.call("y", .subscribe(filter, for: GatewayBench.other))
    #expect(bench.take() == ["x error 4201", "y error 4201"])
    bench.call("z", .subscribe(filter, for: nil))
    bench.grant([nil])
    #expect(bench.take().last == "z error 4102/128")
  }

  /// SDK-gateway-16.
  @Test func doesNotTakeBackWhatOthersNeed() throws {
    var bench = try GatewayBench.line(in: .online)
    let filter = try FullTopic("/shared")
    bench.setUp(2)
    bench.call("a", .subscribe(filter, for: sub))
    bench.call("b", .subscribe(filter, for: GatewayBench.other))
    bench.isTerse = false
    _ = bench.take()
    bench.call("ua", .unsubscribe(filter, for: sub))
    #expect(bench.take() == ["ua ok"])
    bench.call("ub", .unsubscribe(filter, for: GatewayBench.other))
    #expect(bench.take() == ["UNSUBSCRIBE /shared"])
    bench.call("own", .unsubscribe(try FullTopic("/ext/error/a1gw/phone"), for: nil))
    #expect(bench.take() == ["own ok"])
    try bench.post("post")
    bench.grant()
    _ = bench.take()
    let reply = try FullTopic("/sys/123/test/thing/event/property/post_reply")
    bench.call("r", .unsubscribe(reply, for: sub))
    #expect(bench.take() == ["r ok"])
    bench.reply()
    #expect(bench.take() == ["post ok -"])
  }

  /// SDK-gateway-39.
  @Test func asksOnceForAReplyTopic() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.isTerse = false
    try bench.post("a")
    try bench.post("b")
    #expect(bench.take() == ["SUBSCRIBE /sys/{sub}/thing/event/property/post_reply"])
    bench.cancel("a")
    bench.grant()
    #expect(bench.take().count == 1, "nothing is sent for a call that nobody waits for")
    bench.reply()
    #expect(bench.take() == ["b ok -"])
    try bench.post("c")
    #expect(bench.take().first?.hasPrefix("PUBLISH1") == true)
  }

  @Test func asksAgainForAReplyTopicThatNobodyAnswered() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.isTerse = false
    try bench.post("a")
    bench.wait(10)
    try bench.post("b")
    #expect(
      bench.take() == [
        "SUBSCRIBE /sys/{sub}/thing/event/property/post_reply", "a error 4102",
        "SUBSCRIBE /sys/{sub}/thing/event/property/post_reply",
      ])
  }

  // MARK: Down

  /// SDK-gateway-40.
  @Test func givesMessagesToTheirLine() throws {
    var bench = try GatewayBench.line(in: .online)
    for topic in [
      "/sys/{sub}/thing/model/down_raw", "/{sub}/user/x", "/sys/{gw}/thing/x", "/sys/{other}/x",
      "/x",
      "/ext/session/{gw}/combine/login_reply", "/ext/x", "",
    ] {
      bench.message(topic, ["id": "1", "code": 200])
    }
    #expect(
      bench.take() == [
        "line got /sys/{sub}/thing/model/down_raw", "gateway got /{sub}/user/x",
        "gateway got /sys/{gw}/thing/x", "gateway got /sys/{other}/x", "gateway got /x",
        "gateway got /ext/session/{gw}/combine/login_reply", "gateway got /ext/x", "gateway got ",
      ])
  }

  /// SDK-gateway-49.
  @Test(arguments: [
    ("service/property/set", "setProperties"), ("service/property/get", "getProperties"),
    ("service/reset", #"service("reset")"#),
  ])
  func takesCommands(path: String, kind: String) throws {
    var bench = try GatewayBench.line(in: .online)
    bench.message("/sys/{sub}/thing/\(path)", ["id": 7, "params": ["a": 1]])
    #expect(bench.take() == ["line got /sys/{sub}/thing/\(path)", #"command \#(kind) {"a":1}"#])
  }

  /// SDK-gateway-50.
  @Test(arguments: ["disable", "enable", "delete"])
  func answersForTheSubdevice(name: String) throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.message("/sys/{sub}/thing/\(name)", ["id": 7, "params": [:]])
    #expect(
      bench.take().last
        == #"PUBLISH1 /sys/{sub}/thing/\#(name)_reply {"id":7,"code":200,"message":"success","data":{}}"#
    )
  }

  /// SDK-gateway-49.
  @Test func answersWithTheIdAsItCame() throws {
    var bench = try GatewayBench.line(in: .online)
    for id in [7, "7", 4_294_967_295] as [JSONValue] {
      let command = GatewayCommand(
        subdevice: sub, kind: .setProperties, id: id, params: [:],
        topic: "/sys/123/test/thing/service/property/set", time: bench.now)
      bench.call("answer", .answer(command, code: 100_001, message: nil, ["x": 1]))
      let sent = bench.published.last.flatMap { JSONValue(parsing: $0.payload) }
      #expect(sent == ["id": id, "code": 100_001, "data": ["x": 1]])
    }
  }

  @Test func ignoresCommandsThatAreNone() throws {
    var bench = try GatewayBench.line(in: .online)
    for (path, payload) in [
      ("service/property/set", "x"), ("service/property/set", [:]), ("service/a/b", ["id": "1"]),
      ("service/", ["id": "1"]), ("disable", ["id": [:]]), ("else", ["id": "1"]),
    ] as [(String, JSONValue)] {
      bench.message("/sys/{sub}/thing/\(path)", payload)
      #expect(bench.take() == ["line got /sys/{sub}/thing/\(path)"])
    }
    // What a plain broker sends back is our own answer.
    bench.message("/sys/{sub}/thing/service/property/set_reply", ["id": "1", "code": 200])
    #expect(bench.take() == [])
    #expect(!bench.machine.isDisabled(sub))
  }

  @Test func survivesNoticesThatAreNone() throws {
    var bench = try GatewayBench.line(in: .online)
    for payload in ["x", [:], ["params": ["status": []]], .null] as [JSONValue] {
      bench.message("/sys/{gw}/thing/topo/change", payload)
      #expect(bench.take() == ["gateway got /sys/{gw}/thing/topo/change"])
    }
    bench.message("/sys/{gw}/thing/topo/change", ["params": ["status": 1, "subList": [7, [:]]]])
    #expect(
      bench.take() == ["gateway got /sys/{gw}/thing/topo/change", "notice topology 1 []"],
      "without an id there is nothing to answer")
  }

  @Test func postsValuesOfSwiftInTheirOrder() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      let (power, colours) = (0.5, ["red", "blue"])
      try await line.post(properties: ["Power": power, "Colours": colours, "Fault": String?.none])
      try await line.post(event: "Burnt", value: ["Hours": 1_000, "IsDark": true])
      let sent = world.log.payloads(to: line.topic("thing/event/property/post"))
      #expect(
        sent.map { JSONValue(parsing: Array($0.utf8))?["params"] }
          == [["Power": 0.5, "Colours": ["red", "blue"], "Fault": nil]])
      let told = world.log.payloads(to: line.topic("thing/event/Burnt/post"))
      #expect(
        told.map { JSONValue(parsing: Array($0.utf8))?["params"]?["value"] }
          == [["Hours": 1_000, "IsDark": true]])
    }
  }
}
