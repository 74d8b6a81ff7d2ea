import CloudSimulator
import RepriseCore
import Testing

@Suite struct CloudScriptTests {
  @Test func readsEveryKey() throws {
    let script = try CloudScript(
      """
      {
        "tokens": { "stale": { "code": 2043, "message": "no" } },
        "replies": [
          { "topic": "/a", "request": 2, "code": "2152", "message": "m", "data": [] },
          { "request": [1, 3], "faults": ["duplicate", "numeric-id"], "after": 0.25 }
        ],
        "pushes": [
          { "properties": { "A": 1 }, "after": 3, "every": 5, "times": 10, "qos": 2 },
          { "status": "online", "on": "/a/#" },
          { "binding": "Unbind", "device": "pk/dn" }
        ],
        "refusedSubscriptions": ["/a_reply"]
      }
      """)
    #expect(
      script
        == CloudScript(
          tokens: ["stale": .init(code: 2043, message: "no")],
          replies: [
            .init(topic: "/a", requests: [2], code: "2152", message: "m", data: []),
            .init(
              requests: [1, 3], faults: [.duplicate, .numericID], delay: .milliseconds(250)),
          ],
          pushes: [
            .init(
              CloudPush(.properties([JSONMember("A", 1)]), qos: .exactlyOnce),
              delay: .seconds(3), interval: .seconds(5), count: 10),
            .init(CloudPush(.status(isOnline: true)), trigger: "/a/#"),
            .init(CloudPush(.binding(isBound: false)), device: lamp),
          ],
          refusedSubscriptions: ["/a_reply"]))
  }

  @Test func readsHowLinksAreServed() throws {
    let json =
      #"{"links":{"tokens":{"t":{"code":6,"reason":9},"s":{"lifetime":60}},"#
      + #""refusedChannels":{"c":7},"lostChannels":["l"],"#
      + #""refusedTopics":{"t":8},"lostTopics":["m"]}}"#
    var rules = LinkServiceRules()
    rules.tokens = ["t": .init(code: 6, reason: 9), "s": .init(lifetime: .seconds(60))]
    rules.refusedChannels = ["c": 7]
    rules.lostChannels = ["l"]
    rules.refusedTopics = ["t": 8]
    rules.lostTopics = ["m"]
    #expect(try CloudScript(json).links == rules)
    #expect(try CloudScript(#"{"links":{}}"#).links == LinkServiceRules())
    #expect(try CloudScript("{}").links == nil)
  }

  @Test(arguments: CloudFault.allCases)
  func knowsEveryFault(fault: CloudFault) throws {
    let script = try CloudScript(#"{"replies":[{"faults":["\#(fault.rawValue)"]}]}"#)
    #expect(script.replies.first?.faults == [fault])
  }

  @Test(arguments: [
    ("[]", "the script must be an object"),
    ("{", "the script is no JSON at line 1, column 2"),
    ("{\n \"replies\": nix}", "the script is no JSON at line 2, column 13"),
    (#"{"reply":[]}"#, "reply is no key here; known are tokens, replies"),
    (#"{"replys":[]}"#, #"replys is no key here; did you mean "replies"?"#),
    (#"{"replies":[],"replies":[]}"#, "replies is there twice"),
    (#"{"replies":{}}"#, "replies must be an array"),
    (#"{"replies":[{},7]}"#, "replies[1] must be an object"),
    (#"{"replies":[{"topic":7}]}"#, "replies[0].topic must be a string"),
    (#"{"replies":[{"topic":""}]}"#, #"replies[0].topic is no topic filter: """#),
    (#"{"replies":[{"topic":"/a#"}]}"#, #"replies[0].topic is no topic filter: "/a#""#),
    (#"{"replies":[{"request":0}]}"#, "replies[0].request must be a whole number, 1 or more"),
    (#"{"replies":[{"request":[1,"2"]}]}"#, "replies[0].request[1] must be a whole number"),
    (#"{"replies":[{"request":[]}]}"#, "replies[0].request must have a number"),
    (#"{"links":{"token":{}}}"#, #"links.token is no key here; did you mean "tokens"?"#),
    (#"{"links":{"tokens":{"t":{"code":"6"}}}}"#, "links.tokens.t.code must be a whole number"),
    (#"{"links":{"refusedChannels":{"c":0}}}"#, "links.refusedChannels.c must be a whole number"),
    (#"{"links":{"lostChannels":[1]}}"#, "links.lostChannels[0] must be a string"),
    (#"{"links":{"refusedTopics":{"t":-1}}}"#, "links.refusedTopics.t must be a whole number"),
    (#"{"links":{"lostTopics":[{}]}}"#, "links.lostTopics[0] must be a string"),
    (#"{"replies":[{"after":-1}]}"#, "replies[0].after must be a number of seconds"),
    (#"{"replies":[{"after":1e99}]}"#, "replies[0].after must be a number of seconds"),
    (#"{"replies":[{"code":"x"}]}"#, "replies[0].code must be a whole number, or one in a string"),
    (#"{"replies":[{"code":2.5}]}"#, "replies[0].code must be a whole number, or one in a string"),
    (
      #"{"replies":[{"faults":["no-replay"]}]}"#,
      #"replies[0].faults[0] is no fault: "no-replay"; did you mean "no-reply"?"#
    ),
    (#"{"replies":[{"faults":[1]}]}"#, "replies[0].faults[0] must be a string"),
    (#"{"tokens":[]}"#, "tokens must be an object"),
    (#"{"tokens":{"t":{}}}"#, "tokens.t.code is missing"),
    (#"{"tokens":{"t":{"code":1},"t":{"code":1}}}"#, "tokens.t is there twice"),
    (#"{"pushes":[{}]}"#, "pushes[0] must have one of the keys properties, event, status"),
    (#"{"pushes":[{"status":"online","binding":"Bind"}]}"#, "pushes[0] must have one of the keys"),
    (#"{"pushes":[{"status":1}]}"#, "pushes[0].status must be a string"),
    (#"{"pushes":[{"status":"on"}]}"#, "pushes[0].status must be online or offline"),
    (#"{"pushes":[{"status":"online","topic":"/x"}]}"#, "pushes[0].topic is known already"),
    (#"{"pushes":[{"status":"online","method":"x"}]}"#, "pushes[0].method stands beside"),
    (#"{"pushes":[{"status":"online","qos":3}]}"#, "pushes[0].qos must be a whole number, 0 to 2"),
    (#"{"pushes":[{"status":"online","every":0}]}"#, "pushes[0].every must be a number of seconds"),
    (#"{"pushes":[{"status":"online","times":2}]}"#, "pushes[0].times needs the key every"),
    (#"{"pushes":[{"status":"online","device":"pk"}]}"#, "pushes[0].device must be productKey/"),
    (
      #"{"pushes":[{"status":"online","device":"a/b","on":"/x"}]}"#,
      "pushes[0].on is a device's request"
    ),
    (#"{"pushes":[{"properties":[]}]}"#, "pushes[0].properties must be an object"),
    (#"{"pushes":[{"params":{}}]}"#, "pushes[0].topic is missing"),
    (#"{"pushes":[{"params":{},"topic":"/+"}]}"#, "pushes[0].topic is sent to"),
    (#"{"pushes":[{"payload":1,"topic":"/x"}]}"#, "pushes[0].payload must be a string"),
    (#"{"pushes":[{"event":{}}]}"#, "pushes[0].event.identifier is missing"),
    (
      #"{"pushes":[{"event":{"identifier":"E","type":"bad"}}]}"#,
      "pushes[0].event.type must be info, alert or error"
    ),
    (#"{"refusedSubscriptions":[1]}"#, "refusedSubscriptions[0] must be a string"),
    (#"{"refusedSubscriptions":["a/#/b"]}"#, "refusedSubscriptions[0] is no topic filter"),
  ])
  func namesTheKeyThatIsWrong(json: String, start: String) {
    let error = #expect(throws: SimulatorError.self) { try CloudScript(json) }
    #expect(error?.code == .unreadableScript)
    #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "")")
  }
}
