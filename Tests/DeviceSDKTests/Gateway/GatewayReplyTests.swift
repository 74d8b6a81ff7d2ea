import RepriseCore
import Testing

@testable import DeviceSDK

/// Replies in every shape and order, codes, and errors of sessions.
@Suite struct GatewayReplyTests {
  /// SDK-gateway-44.
  @Test(
    arguments: [
      ("string", 200, nil), ("number", "200", ""), ("string", "200", [:]), ("number", 200, []),
      ("string", 200, .null),
    ] as [(String, JSONValue, JSONValue?)])
  func takesRepliesInAnyShape(id: String, code: JSONValue, data: JSONValue?) throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("login", .logIn)
    let (topic, number) = try #require(bench.requests.first)
    var members = [
      JSONMember("id", id == "number" ? .number(number) : .string(number)),
      JSONMember("code", code),
    ]
    if let data { members.append(JSONMember("data", data)) }
    _ = bench.take()
    bench.message(topic + "_reply", .object(members))
    #expect(bench.take() == ["{sub} online", "login ok"])
  }

  /// SDK-gateway-44.
  @Test(arguments: [("", "-"), (.null, "-"), ([:], "{}"), (7, "7")] as [(JSONValue, String)])
  func takesAnEmptyTextForNoData(data: JSONValue, shown: String) throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    _ = bench.take()
    bench.reply(data: data)
    #expect(bench.take() == ["post ok \(shown)"])
  }

  /// SDK-gateway-56, 57, 69.
  @Test func ignoresARepeatedReplyAndALateOne() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    let (topic, id) = try #require(bench.requests.first)
    bench.reply()
    _ = bench.take()
    bench.message(topic + "_reply", ["id": .string(id), "code": 200])
    #expect(bench.take() == [] && bench.machine.statistics.duplicateReplies == 1)
    try bench.post("post")
    let late = try #require(bench.requests.first)
    _ = bench.take()
    bench.wait(9)
    #expect(bench.take() == [])
    bench.wait(1)
    #expect(bench.take() == ["post error 4102"])
    bench.message(topic + "_reply", ["id": .number(late.id), "code": 200])
    #expect(bench.take() == [] && bench.machine.statistics.lateReplies == 1)
    bench.message(topic + "_reply", ["id": "4294967295", "code": 200])
    #expect(bench.take() == ["line got /sys/{sub}/thing/event/property/post_reply"])
    #expect(bench.machine.statistics.unknownReplies == 1)
  }

  @Test func matchesRepliesWhateverTheirOrder() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("a")
    try bench.post("b")
    let second = bench.requests[1]
    _ = bench.take()
    bench.message(
      second.topic + "_reply", ["id": .number(second.id), "code": 200, "data": ["n": 2]])
    bench.reply(data: ["n": 1])
    #expect(bench.take() == [#"b ok {"n":2}"#, #"a ok {"n":1}"#])
  }

  @Test func isNotTakenInByARepliesTopic() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    let id = try #require(bench.requests.first?.id)
    _ = bench.take()
    bench.message("/sys/{sub}/thing/event/x/post_reply", ["id": .string(id), "code": 200])
    #expect(bench.take() == ["line got /sys/{sub}/thing/event/x/post_reply"])
  }

  @Test func failsForAReplyWithoutACode() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    let (topic, id) = try #require(bench.requests.first)
    _ = bench.take()
    bench.message(topic + "_reply", ["id": .string(id)])
    #expect(bench.take() == ["post error 4102"])
  }

  @Test func failsWhenTheReplyTopicIsNotGrantedOrNotAnswered() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.isTerse = false
    bench.operate("login", .logIn)
    bench.operate("logout", .logOut)
    _ = bench.take()
    bench.grant([nil])
    // What comes after it on the line is tried all the same.
    #expect(
      bench.take() == [
        "login error 4102/128", "SUBSCRIBE /ext/session/{gw}/combine/logout_reply",
      ])
    bench.wait(10)
    #expect(bench.take() == ["logout error 4102"])
  }

  // MARK: Codes

  /// SDK-gateway-55.
  @Test func waitsBeforeItAsksAgainWhenThereWereTooManyRequests() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("login", .logIn)
    for seconds in [60, 120, 240] as [Double] {
      bench.reply(code: "429")
      _ = bench.take()
      bench.wait(seconds - 1)
      #expect(bench.requests.isEmpty && bench.take() == [])
      bench.wait(1)
      #expect(bench.requests.count == 1)
    }
    _ = bench.take()
    bench.reply(code: 429)
    #expect(bench.take() == ["login error 4103/429"])
  }

  /// SDK-gateway-55.
  @Test(arguments: [500, 6760] as [JSONValue])
  func asksAgainAFewTimesWhenTheCloudHasAFault(code: JSONValue) throws {
    var bench = try GatewayBench.line(in: .ready)
    bench.operate("add", .addTopology)
    for seconds in [1, 2, 4] as [Double] {
      bench.reply(code: code)
      bench.wait(seconds)
    }
    _ = bench.take()
    bench.reply(data: [:])
    #expect(bench.take() == ["{sub} topology", "add ok"])
  }

  /// SDK-gateway-55.
  @Test(arguments: [460, 6287, 401, 6402, 6280, 6100, 521, 522, 428, 77777] as [Int])
  func doesNotAskAgainWhatIsRefusedForGood(code: Int) throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("login", .logIn)
    _ = bench.take()
    bench.reply(code: .number("\(code)"))
    #expect(bench.take().last == "login error 4103/\(code)")
    bench.wait(600)
    #expect(bench.requests.isEmpty && bench.machine.operations.isEmpty)
  }

  /// SDK-gateway-58.
  @Test func doesNotAskAgainForTheApplication() throws {
    var bench = try GatewayBench.line(in: .online)
    for code in [429, 500] as [JSONValue] {
      try bench.post("post")
      _ = bench.take()
      bench.reply(code: code)
      #expect(bench.take().count == 1)
      bench.wait(600)
      #expect(bench.requests.isEmpty)
    }
  }

  /// SDK-gateway-24, 27.
  @Test func losesTheTopologyInTheMiddleOfASession() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    _ = bench.take()
    bench.sessionError(6401, ofRequest: true)
    #expect(bench.take() == ["{sub} ready 4302/6401", "post error 4302/6401"])
    bench.operate("login", .logIn)
    bench.reply(code: 6401)
    #expect(bench.take().last == "login error 4302/6401")
    bench.operate("add", .addTopology)
    bench.reply()
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .topology)
  }

  /// SDK-gateway-45.
  @Test func failsAPostAtOnceThatTheSessionRefuses() throws {
    var bench = try GatewayBench.line(in: .topology)
    try bench.post("post")
    _ = bench.take()
    bench.sessionError("520", ofRequest: true)
    #expect(bench.take() == ["post error 4103/520"])
    // With another device's name the id is a coincidence.
    try bench.post("post")
    _ = bench.take()
    bench.sessionError(520, GatewayBench.other, ofRequest: true)
    #expect(bench.take() == ["notice session 520 {other}"])
    bench.wait(10)
    #expect(bench.take() == ["post error 4102"])
  }

  /// SDK-gateway-28, 46.
  @Test func tellsWhoWasKicked() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.sessionError(427)
    #expect(bench.take() == ["{sub} topology 4103/427", "notice session 427 {sub}"])
    bench.sessionError(427, nil)
    #expect(bench.take() == ["notice session 427 -"])
  }

  @Test func survivesErrorsThatAreNone() throws {
    var bench = try GatewayBench.line(in: .online)
    for payload in [[:], "x", [], ["code": [:]], .null] as [JSONValue] {
      bench.message("/ext/error/{gw}", payload)
      #expect(bench.take() == ["gateway got /ext/error/{gw}"])
    }
  }
}
