import RepriseCore
import Testing

@testable import CloudSimulator

/// How the cloud answers gateways, request by request.
@Suite struct GatewayCloudTests {
  private let sub = #"{"productKey":"123","deviceName":"test""#

  private func request(_ topic: String, _ params: String) -> CloudMachine.Input {
    let payload = #"{"id":"1","params":\#(params)}"#
    return .received(Message(topic: topic, payload: Array(payload.utf8)))
  }

  private func sys(_ path: String) -> String { "/sys/gw/phone/thing/\(path)" }
  private func session(_ path: String) -> String { "/ext/session/gw/phone/combine/\(path)" }

  /// The codes of the answers, with the topics of those that are no replies.
  private func codes(
    _ cloud: inout CloudMachine, _ topic: String, _ params: String, at now: Timestamp = seconds(0)
  ) -> [String] {
    cloud.handle(request(topic, params), now: now).compactMap { output in
      guard case .publish(let message) = output else { return nil }
      guard case .object(let members)? = JSONValue(parsing: message.payload),
        let code = members.first(where: { $0.key == "code" })?.value
      else { return message.topic }
      let digits = code.text ?? code.integer.map { "\($0)" } ?? "-"
      return message.topic == topic + "_reply" ? digits : "\(message.topic) \(digits)"
    }
  }

  private func cloud(_ gateway: String = "{}", replies: String = "[]") throws -> CloudMachine {
    CloudMachine(try CloudScript(#"{"gateway":\#(gateway),"replies":\#(replies)}"#))
  }

  @Test func followsASubdeviceThroughItsLife() throws {
    var cloud = try cloud()
    let named = "\(sub)}"
    let signed = #"\#(sub),"sign":"ab"}"#
    let post = "/sys/123/test/thing/event/property/post"
    for (topic, params, expected) in [
      (sys("topo/get"), "{}", ["200"]),
      (post, "{}", ["/ext/error/gw/phone 6401"]),
      (session("login"), signed, ["6401"]),
      (sys("topo/delete"), "[\(named)]", ["6401"]),
      (sys("topo/add"), "[\(signed)]", ["200"]),
      (sys("topo/add"), "[\(signed)]", ["200"]),
      (post, "{}", ["/ext/error/gw/phone 520"]),
      (session("logout"), named, ["520"]),
      (session("login"), signed, ["200"]),
      (post, "{}", ["200"]),
      (session("logout"), named, ["200"]),
      (session("batch_login"), #"{"deviceList":[\#(signed)]}"#, ["200"]),
      (session("batch_logout"), "[\(named)]", ["200"]),
      (session("login"), signed, ["200"]),
      (sys("topo/delete"), "[\(named)]", ["200"]),
      (post, "{}", ["/ext/error/gw/phone 6401"]),
    ] {
      #expect(codes(&cloud, topic, params) == expected, "\(topic) \(params)")
    }
  }

  @Test(arguments: [
    ("topo/add", "{}"), ("topo/add", "[]"), ("topo/add", "[7]"), ("topo/delete", "7"),
    ("list/found", "[{}]"), ("sub/register", "[]"), ("sub/register", "[{}]"),
    ("sub/unregister", "{}"),
  ])
  func refusesParametersThatAreWrong(path: String, params: String) throws {
    var cloud = try cloud()
    #expect(codes(&cloud, sys(path), params) == ["460"])
  }

  @Test func checksWhoExistsAndWhoSigned() throws {
    var cloud = try cloud(#"{"devices":[{"device":"123/test","sign":"AB12"}]}"#)
    let other = #"{"productKey":"123","deviceName":"other","sign":"ab12"}"#
    #expect(codes(&cloud, sys("topo/add"), "[\(other)]") == ["6100"])
    #expect(codes(&cloud, sys("topo/add"), #"[\#(sub),"sign":"cd"}]"#) == ["401"])
    #expect(codes(&cloud, sys("topo/add"), "[\(sub)}]") == ["401"])
    #expect(codes(&cloud, sys("topo/add"), #"[\#(sub),"sign":"ab12"}]"#) == ["200"])
    #expect(codes(&cloud, session("login"), #"\#(sub),"sign":"cd"}"#) == ["6287"])
    #expect(codes(&cloud, session("login"), #"\#(sub),"sign":"aB12"}"#) == ["200"])
    let itself = #"[{"productKey":"gw","deviceName":"phone","sign":"x"}]"#
    #expect(codes(&cloud, sys("topo/add"), itself) == ["6402"])
  }

  @Test func countsLoginsInAMinute() throws {
    var cloud = try cloud(#"{"loginsPerMinute":2}"#)
    let signed = #"\#(sub),"sign":"ab"}"#
    _ = codes(&cloud, sys("topo/add"), "[\(signed)]")
    for (time, code) in [(0.0, "200"), (30, "200"), (59, "429"), (119.5, "200")] {
      #expect(codes(&cloud, session("login"), signed, at: seconds(time)) == [code], "\(time)")
    }
  }

  @Test func changesNothingWhenTheScriptRefuses() throws {
    var cloud = try cloud(
      replies: #"[{"topic":"/sys/+/+/thing/topo/add","code":"429","request":1}]"#)
    let signed = #"[\#(sub),"sign":"ab"}]"#
    #expect(codes(&cloud, sys("topo/add"), signed) == ["429"])
    #expect(cloud.gateways?.topology.isEmpty == true)
    #expect(codes(&cloud, sys("topo/add"), signed) == ["200"])
    #expect(cloud.gateways?.topology.count == 1)
  }

  @Test func misbehavesAsTheScriptSays() throws {
    for (faults, count) in [("no-reply", 0), ("duplicate", 2), ("numeric-id", 1)] {
      var cloud = try cloud(
        replies: #"[{"topic":"/ext/session/+/+/#","faults":["\#(faults)"],"after":2,"data":""}]"#)
      let login = request(session("login"), #"\#(sub),"sign":"ab"}"#)
      #expect(cloud.handle(login, now: seconds(0)).isEmpty)
      let outputs = cloud.handle(.timePassed, now: seconds(2))
      #expect(outputs.count == count)
    }
  }

  @Test(arguments: [
    (#""set":{"P":1}"#, "/sys/123/test/thing/service/property/set"),
    (#""get":["P"]"#, "/sys/123/test/thing/service/property/get"),
    (#""service":"reset","params":{"a":1}"#, "/sys/123/test/thing/service/reset"),
    (#""disable":true"#, "/sys/123/test/thing/disable"),
    (#""enable":true"#, "/sys/123/test/thing/enable"),
    (#""delete":true"#, "/sys/123/test/thing/delete"),
    (#""topologyChange":8"#, "/sys/gw/phone/thing/topo/change"),
    (#""add":true"#, "/sys/gw/phone/thing/topo/add/notify"),
    (#""sessionError":"427""#, "/ext/error/gw/phone"),
  ])
  func tellsWhatTheScriptWants(content: String, topic: String) throws {
    var cloud = try cloud(
      #"{"pushes":[{\#(content),"subdevice":"123/test","after":3}]}"#)
    let signed = #"\#(sub),"sign":"ab"}"#
    _ = codes(&cloud, sys("topo/add"), "[\(signed)]")
    #expect(codes(&cloud, session("login"), signed) == ["200"])
    #expect(cloud.deadline == seconds(3))
    let told = cloud.handle(.timePassed, now: seconds(3)).compactMap { output -> String? in
      if case .publish(let message) = output { message.topic } else { nil }
    }
    #expect(told == [topic])
  }

  @Test func tellsOnAnyOccasion() throws {
    var cloud = try cloud(
      #"{"pushes":[{"sessionError":427,"subdevice":"123/test","gateway":"gw/phone","#
        + #""on":"/sys/123/test/thing/#"}]}"#)
    let post = "/sys/123/test/thing/event/x/post"
    #expect(codes(&cloud, post, "{}") == ["/ext/error/gw/phone 427"])
  }

  @Test func answersNoGatewayWithoutAScriptForThem() {
    var cloud = CloudMachine()
    #expect(cloud.handle(request(sys("topo/get"), "{}"), now: seconds(0)).isEmpty)
    #expect(cloud.filters == ["/sys/+/+/app/up/#"])
  }

  @Test(arguments: [
    "/sys/gw/phone/thing/topo/add_reply", "/sys/gw/phone/thing/topo/change", "/ext/error/gw/phone",
    "/sys/123/test/thing/service/property/set", "/sys/123/test/thing/disable",
    "/sys//x/thing/topo/get",
    "/ext/session/gw", "/sys/gw/phone", "",
  ])
  func answersNothingOfItsOwn(topic: String) throws {
    var cloud = try cloud()
    #expect(cloud.handle(request(topic, "{}"), now: seconds(0)).isEmpty)
  }

  @Test(arguments: [
    ("7", "gateway must be an object"), (#"{"x":1}"#, "gateway.x is no key here"),
    (#"{"devices":[{"device":"a"}]}"#, "gateway.devices[0].device must be productKey/deviceName"),
    (#"{"devices":[{}]}"#, "gateway.devices[0].device is missing"),
    (#"{"loginsPerMinute":0}"#, "gateway.loginsPerMinute must be a whole number, 1 or more"),
    (#"{"pushes":[{"subdevice":"a/b"}]}"#, "gateway.pushes[0] must have one of the keys"),
    (#"{"pushes":[{"set":{},"get":[],"subdevice":"a/b"}]}"#, "gateway.pushes[0] must have one"),
    (#"{"pushes":[{"set":7,"subdevice":"a/b"}]}"#, "gateway.pushes[0].set must be an object"),
    (#"{"pushes":[{"get":[7],"subdevice":"a/b"}]}"#, "gateway.pushes[0].get[0] must be a string"),
    (
      #"{"pushes":[{"disable":false,"subdevice":"a/b"}]}"#, "gateway.pushes[0].disable must be true"
    ),
    (#"{"pushes":[{"set":{},"params":{},"subdevice":"a/b"}]}"#, "gateway.pushes[0].params stands"),
    (
      #"{"pushes":[{"sessionError":"x","subdevice":"a/b"}]}"#, "gateway.pushes[0].sessionError must"
    ),
    (#"{"pushes":[{"add":true,"subdevice":"a/b","on":"a#"}]}"#, "gateway.pushes[0].on is no topic"),
  ])
  func saysWhatIsWrongWithAScript(gateway: String, message: String) throws {
    let error = try #require(throws: SimulatorError.self) {
      try CloudScript(#"{"gateway":\#(gateway)}"#)
    }
    #expect(error.code == .unreadableScript && error.message.hasPrefix(message), "\(error)")
  }
}
