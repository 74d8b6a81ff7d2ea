import CloudSimulator
import RepriseCore
import Testing

@Suite struct CloudMachineTests {
  @Test(arguments: [
    // The two forms of the envelope, and identifiers as they come.
    (
      #"{"id":"1","version":"1.0","request":{"clientId":"dn&pk"},"params":{"a":1}}"#,
      #"{"id":"1","code":200,"message":"success","data":{"a":1}}"#
    ),
    (
      #"{"id":"7","system":{"version":"1.0","time":"1510292697470"},"request":{},"params":[]}"#,
      #"{"id":"7","code":200,"message":"success","data":[]}"#
    ),
    (#"{"id":12}"#, #"{"id":12,"code":200,"message":"success","data":{}}"#),
    (#"{"id":1e3,"params":""}"#, #"{"id":1e3,"code":200,"message":"success","data":""}"#),
  ])
  func answersAsItIsAsked(payload: String, reply: String) {
    var machine = CloudMachine()
    #expect(machine.lines(request("/light/get", payload)) == [down + "/light/get_reply " + reply])
  }

  @Test(arguments: ["", "no JSON", "[1]", "{}", #"{"id":null}"#, #"{"id":{}}"#, "\u{1}"])
  func leavesWhatIsNoRequestUnanswered(payload: String) {
    var machine = CloudMachine()
    #expect(machine.lines(request("/light/get", payload)).isEmpty)
  }

  @Test(arguments: [
    "/sys/pk/dn/app/down/x", "/sys/pk/dn/app/up", "/sys/pk/dn/app/up/", "/sys//dn/app/up/x", "x",
    "",
    "/sys/pk/dn/thing/up/x",
  ])
  func leavesOtherTopicsAlone(topic: String) {
    var machine = CloudMachine()
    let message = Message(topic: topic, payload: Array(#"{"id":"1"}"#.utf8))
    #expect(machine.handle(.received(message), now: seconds(0)).isEmpty)
  }

  @Test func bindsAndUnbindsAccounts() throws {
    var machine = CloudMachine(try CloudScript(#"{"tokens":{"old":{"code":2043}}}"#))
    let reply = down + "/account/bind_reply "
    #expect(
      machine.lines(request("/account/bind", #"{"id":"1","params":{"iotToken":"old"}}"#)) == [
        reply + #"{"id":"1","code":2043,"message":"check iotToken failed"}"#
      ])
    #expect(
      machine.lines(request("/account/bind", #"{"id":"2","params":{}}"#)) == [
        reply + #"{"id":"2","code":460,"message":"iotToken is missing"}"#
      ])
    #expect(machine.boundDevices.isEmpty)
    #expect(
      machine.lines(request("/account/bind", #"{"id":"3","params":{"iotToken":"new"}}"#)) == [
        reply + #"{"id":"3","code":200,"message":"success","data":{}}"#
      ])
    #expect(machine.boundDevices == [lamp])
    #expect(
      machine.lines(request("/account/unbind", #"{"id":"4","params":{}}"#)) == [
        down + #"/account/unbind_reply {"id":"4","code":200,"message":"success","data":{}}"#
      ])
    #expect(machine.boundDevices.isEmpty)
  }

  @Test(arguments: [
    (#""code":2152"#, #"{"id":"5","code":2152,"message":"distributed lock failed"}"#),
    (#""code":"6205""#, #"{"id":"5","code":"6205","message":"device offline"}"#),
    (#""code":9,"data":[]"#, #"{"id":"5","code":9,"message":"error","data":[]}"#),
    (#""code":"200""#, #"{"id":"5","code":"200","message":"success","data":{"a":1}}"#),
    (#""data":"""#, #"{"id":"5","code":200,"message":"success","data":""}"#),
    (#""data":[]"#, #"{"id":"5","code":200,"message":"success","data":[]}"#),
    (#""data":null"#, #"{"id":"5","code":200,"message":"success","data":null}"#),
    (#""message":"hm""#, #"{"id":"5","code":200,"message":"hm","data":{"a":1}}"#),
    (#""faults":["no-data"]"#, #"{"id":"5","code":200,"message":"success"}"#),
    (
      #""faults":["numeric-id"]"#,
      #"{"id":5,"code":200,"message":"success","data":{"a":1}}"#
    ),
    (
      #""faults":["wrong-id"]"#,
      #"{"id":"4294967295","code":200,"message":"success","data":{"a":1}}"#
    ),
    (
      #""faults":["wrong-id","numeric-id"]"#,
      #"{"id":4294967295,"code":200,"message":"success","data":{"a":1}}"#
    ),
    (#""faults":["no-id"]"#, #"{"code":200,"message":"success","data":{"a":1}}"#),
    (#""faults":["no-code"]"#, #"{"id":"5","message":"success","data":{"a":1}}"#),
    (#""faults":["not-json"]"#, "<html>503 Service Unavailable</html>"),
    (#""faults":["empty-payload"]"#, ""),
  ])
  func answersAsTheScriptSays(rule: String, reply: String) throws {
    var machine = CloudMachine(try CloudScript(#"{"replies":[{\#(rule)}]}"#))
    let lines = machine.lines(request("/x", #"{"id":"5","params":{"a":1}}"#))
    #expect(lines == [down + "/x_reply " + reply])
  }

  @Test(arguments: [
    (#"["no-reply"]"#, [String]()),
    (#"["wrong-topic","empty-payload"]"#, [down + "/x "]),
    (#"["duplicate","empty-payload"]"#, [down + "/x_reply ", down + "/x_reply "]),
    (#"["drop-connection"]"#, ["drop \(up)/x"]),
  ])
  func sendsAsOftenAndWhereTheScriptSays(faults: String, expected: [String]) throws {
    var machine = CloudMachine(try CloudScript(#"{"replies":[{"faults":\#(faults)}]}"#))
    #expect(machine.lines(request("/x", #"{"id":"5"}"#)) == expected)
  }

  @Test func sendsWhatIsNotUTF8() throws {
    var machine = CloudMachine(try CloudScript(#"{"replies":[{"faults":["not-utf8"]}]}"#))
    let outputs = machine.handle(request("/x", #"{"id":"5"}"#), now: seconds(0))
    guard case .publish(let message)? = outputs.first else {
      Issue.record("no answer")
      return
    }
    #expect(String(validating: message.payload, as: UTF8.self) == nil)
  }

  @Test func countsTheRequestsOnEachRulesTopic() throws {
    let script = """
      {"replies": [
        {"topic": "/a", "request": 2, "code": 1},
        {"topic": "/#", "request": [2, 4], "code": 2},
        {"topic": "/sys/+/other/app/up/a", "code": 3}
      ]}
      """
    var machine = CloudMachine(try CloudScript(script))
    let codes = ["/a", "/a", "/b", "/a"].map { path in
      machine.lines(request(path, #"{"id":1}"#)).first?.split(separator: ",").dropFirst().first
    }
    #expect(codes == [#""code":200"#, #""code":1"#, #""code":200"#, #""code":2"#])
  }

  @Test func answersLate() throws {
    let script = #"{"replies":[{"after":2.5,"faults":["empty-payload"],"request":1}]}"#
    var machine = CloudMachine(try CloudScript(script))
    #expect(machine.lines(request("/slow", #"{"id":1}"#)).isEmpty)
    #expect(machine.deadline == seconds(2.5))
    #expect(machine.lines(request("/x", #"{"id":2}"#), at: seconds(1)).count == 1)
    #expect(machine.lines(.timePassed, at: seconds(2.4)).isEmpty)
    #expect(machine.lines(.timePassed, at: seconds(2.5)) == [down + "/slow_reply "])
    #expect(machine.deadline == nil)
  }
}
