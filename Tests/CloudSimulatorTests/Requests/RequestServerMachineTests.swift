import RepriseCore
import Testing

@testable import CloudSimulator

@Suite struct RequestServerMachineTests {
  private static let start = Timestamp(nanoseconds: 1_000_000_000_000)
  private static let request =
    #"{"content":"{\"a\":1}","method":"GET","product":"p","service":"s/t","uniqueId":7}"#
  private static let answer =
    #"{"content":"{\"a\":1}","method":"GET","product":"p","service":"s/t","uniqueId":7}"#

  private static func moment(_ seconds: Double) -> Timestamp {
    start.advanced(by: .milliseconds(Int64(seconds * 1_000)))
  }

  private func machine(_ script: String) throws -> RequestServerMachine {
    var machine = RequestServerMachine(try RequestScript(parsing: Array(script.utf8)))
    #expect(machine.handle(.opened, now: Self.start).isEmpty)
    return machine
  }

  @Test func answersWithTheParameters() throws {
    var machine = try machine("{}")
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(Self.answer)])
    #expect(machine.deadline == nil)
  }

  @Test(arguments: [
    "", "hello", "[1]", "{}", #"{"uniqueId":1}"#, #"{"uniqueId":"1","service":"s"}"#,
    #"{"method":"POST","product":"p","service":"system/heart-beat","uniqueId":1}"#,
  ])
  func answersNothingThatAsksForNothing(text: String) throws {
    var machine = try machine("{}")
    #expect(machine.handle(.text(text), now: Self.start).isEmpty)
  }

  @Test func answersHeartbeatsWhenItIsToldTo() throws {
    var machine = try machine(#"{"answersHeartbeats":true}"#)
    let heartbeat = #"{"method":"POST","product":"p","service":"system/heart-beat","uniqueId":1}"#
    #expect(machine.handle(.text(heartbeat), now: Self.start) == [.text(heartbeat)])
  }

  @Test(
    arguments: [
      (RequestFault.noAnswer, []), (.duplicate, [.text(answer), .text(answer)]),
      (.close, [.close]), (.drop, [.drop]), (.binary, [.binary(Array(answer.utf8))]),
      (
        .unknownID,
        [.text(answer.replacing("7", with: "1000000007"))]
      ),
      (.textID, [.text(answer.replacing("7", with: #""7""#))]),
      (.noID, [.text(answer.replacing(#","uniqueId":7"#, with: ""))]),
      (.noService, [.text(answer.replacing(#""service":"s/t","#, with: ""))]),
      (.noContent, [.text(answer.replacing(#""content":"{\"a\":1}","#, with: ""))]),
      (.objectContent, [.text(answer.replacing(#""{\"a\":1}""#, with: #"{"a":1}"#))]),
      (.malformed, [.text(String(answer.dropLast(answer.count / 2)))]),
    ] as [(RequestFault, [RequestServerMachine.Output])])
  func misbehaves(_ fault: RequestFault, _ outputs: [RequestServerMachine.Output]) throws {
    var machine = try machine(#"{"answers":[{"service":"s/*","faults":["\#(fault.rawValue)"]}]}"#)
    #expect(machine.handle(.text(Self.request), now: Self.start) == outputs)
  }

  @Test func knowsEveryFault() {
    #expect(RequestFault.allCases.count == 12, "say above what the new fault does")
  }

  @Test func answersLateInTheOrderOfTheMoments() throws {
    var machine = try machine(
      #"{"answers":[{"request":1,"after":2,"content":{"n":1}},{"after":1,"content":{"n":2}}]}"#)
    #expect(machine.handle(.text(Self.request), now: Self.start).isEmpty)
    #expect(machine.handle(.text(Self.request), now: Self.start).isEmpty)
    #expect(machine.deadline == Self.moment(1))
    #expect(machine.handle(.timePassed, now: Self.moment(0.5)).isEmpty)
    let outputs = machine.handle(.timePassed, now: Self.moment(9))
    let numbers = outputs.map { output -> Bool? in
      guard case .text(let text) = output else { return nil }
      return text.contains(#"{\"n\":2}"#)
    }
    #expect(numbers == [true, false] && machine.deadline == nil)
  }

  @Test func refusesWithTheErrorOfTheFirstRuleThatFits() throws {
    var machine = try machine(
      #"{"answers":[{"service":"x"},{"service":"s/t","request":[2,3],"error":{"code":2}}]}"#)
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(Self.answer)])
    let refusal =
      #"{"error":{"code":2},"method":"GET","product":"p","service":"s/t","uniqueId":7}"#
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(refusal)])
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(refusal)])
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(Self.answer)])
  }

  @Test func pushesByTheClockAndOnRequests() throws {
    var machine = try machine(
      """
      {"pushes":[{"text":"tick","after":3,"every":5,"times":2},{"bytes":[1],"on":"s/t","after":1}]}
      """)
    #expect(machine.deadline == Self.moment(3))
    #expect(machine.handle(.timePassed, now: Self.moment(3)) == [.text("tick")])
    #expect(machine.handle(.text(Self.request), now: Self.moment(3)) == [.text(Self.answer)])
    #expect(machine.handle(.timePassed, now: Self.moment(4)) == [.binary([1])])
    #expect(machine.handle(.timePassed, now: Self.moment(60)) == [.text("tick")])
    #expect(machine.deadline == nil)
    // The next connection has its own, and nothing of the last one.
    _ = machine.handle(.text(Self.request), now: Self.moment(60))
    #expect(machine.handle(.closed, now: Self.moment(60)).isEmpty && machine.deadline == nil)
    #expect(machine.handle(.opened, now: Self.moment(70)).isEmpty)
    #expect(machine.deadline == Self.moment(73))
  }

  @Test(arguments: [
    ("hello", "it is no JSON"), ("[7]", "it is no object of JSON"),
    (#"{"service":"s"}"#, "it has no uniqueId"), (#"{"uniqueId":7}"#, "it has no service"),
    (#"{"uniqueId":"7","service":"s"}"#, "its uniqueId is a string, not a whole number"),
    (#"{"uniqueId":7.5,"service":"s"}"#, "its uniqueId is no whole number"),
    (#"{"uniqueId":7,"service":8}"#, "its service is no string"),
    (#"{"uniqueId":"7","uniqueId":7,"service":"s"}"#, nil), (Self.request, nil),
  ])
  func tellsWhyATextIsNotAnswered(_ text: String, _ misfit: String?) throws {
    var machine = try machine("{}")
    #expect(RequestServerMachine.misfit(of: text) == misfit)
    #expect(machine.handle(.text(text), now: Self.start).isEmpty == (misfit != nil))
  }

  // MARK: Names of a client's own

  private static let envelope = #"""
    {"id":"seq","service":"path","method":"verb","product":"app","content":"body","error":"fault",
     "errorCode":"no","errorMessage":"why","heartbeat":"ping","contentAsText":false}
    """#
  private static let ownRequest =
    #"{"body":{"a":1},"verb":"GET","app":"p","path":"s/t","seq":7}"#

  @Test(
    arguments: [
      ("", ownRequest, ownRequest),
      (
        #","answers":[{"content":[1]}]"#, ownRequest, ownRequest.replacing(#"{"a":1}"#, with: "[1]")
      ),
      (
        #","answers":[{"error":{"no":2}}]"#, ownRequest,
        ownRequest.replacing(#""body":{"a":1}"#, with: #""fault":{"no":2}"#)
      ),
      (
        #","login":"in""#, ownRequest,
        ownRequest.replacing(
          #""body":{"a":1}"#, with: #""fault":{"no":4,"why":"login first"}"#)
      ),
      (
        #","answers":[{"faults":["no-id","no-service"]}]"#, ownRequest,
        #"{"body":{"a":1},"verb":"GET","app":"p"}"#
      ),
      (
        #","answersHeartbeats":true"#, #"{"path":"ping","seq":7}"#,
        #"{"verb":"POST","app":"","path":"ping","seq":7}"#
      ),
      // The model's heartbeat is a service like any other.
      (
        "", #"{"path":"system/heart-beat","seq":7}"#,
        #"{"body":{},"verb":"POST","app":"","path":"system/heart-beat","seq":7}"#
      ),
      ("", #"{"path":"ping","seq":7}"#, nil), ("", request, nil),
    ] as [(String, String, String?)])
  func answersByAnEnvelope(_ more: String, _ text: String, _ answer: String?) throws {
    var machine = try machine(#"{"envelope":\#(Self.envelope)\#(more)}"#)
    let outputs = machine.handle(.text(text), now: Self.start)
    #expect(outputs == (answer.map { [.text($0)] } ?? []))
  }

  @Test func whatAnEnvelopeLeavesOutIsAsItWas() throws {
    var machine = try machine(#"{"envelope":{"id":"seq"}}"#)
    let text = Self.request.replacing("uniqueId", with: "seq")
    #expect(machine.handle(.text(text), now: Self.start) == [.text(text)])
    #expect(machine.handle(.text(Self.request), now: Self.start).isEmpty)
  }

  @Test(arguments: [
    (request, "it has no seq"), (#"{"seq":7}"#, "it has no path"),
    (#"{"seq":"7","path":"s"}"#, "its seq is a string, not a whole number"),
    (#"{"seq":7.5,"path":"s"}"#, "its seq is no whole number"),
    (#"{"seq":7,"path":8}"#, "its path is no string"), (ownRequest, nil),
  ])
  func tellsByAnEnvelopeWhyATextIsNotAnswered(_ text: String, _ misfit: String?) throws {
    let envelope = try RequestEnvelope(parsing: Array(Self.envelope.utf8))
    #expect(RequestServerMachine.misfit(of: text, in: envelope) == misfit)
  }

  @Test func anEnvelopeIsReadAloneAndInItsScript() throws {
    let alone = try RequestEnvelope(parsing: Array(Self.envelope.utf8))
    let script = #"{"login":"in","envelope":\#(Self.envelope)}"#
    #expect(try RequestEnvelope(parsing: Array(script.utf8)) == alone)
    #expect(try RequestScript(parsing: Array(script.utf8)).envelope == alone)
    #expect(try RequestEnvelope(parsing: Array("{}".utf8)) == RequestEnvelope())
    #expect(try RequestScript(parsing: Array("{}".utf8)).envelope == RequestEnvelope())
    // An answer has either an error or content, so that both may have one key.
    let shared = #"{"content":"data","error":"data"}"#
    #expect(try RequestEnvelope(parsing: Array(shared.utf8)).error == "data")
  }

  @Test(arguments: [
    ("[]", "the envelope must be an object"),
    ("{", "the envelope is no JSON at line 1, column 2"),
    (#"{"servise":"path"}"#, #"servise is no key here; did you mean "service"?"#),
    (#"{"answers":[]}"#, "answers is no key here; known are id, service, method, "),
    (#"{"id":7}"#, "id must be a string"), (#"{"product":""}"#, "product must not be empty"),
    (#"{"id":"a","id":"b"}"#, "id is there twice"),
    (#"{"contentAsText":"yes"}"#, "contentAsText must be true or false"),
    (#"{"method":"service"}"#, #"method is "service", as service is; each needs a key of its own"#),
    (#"{"error":"uniqueId"}"#, #"error is "uniqueId", as id is; each needs a key of its own"#),
    (
      #"{"errorCode":"desc"}"#, #"errorMessage is "desc", as errorCode is; each needs a key of its"#
    ),
    (#"{"envelope":[]}"#, "envelope must be an object"),
    (#"{"envelope":{"ids":"n"}}"#, #"envelope.ids is no key here; did you mean "id"?"#),
    (#"{"envelope":{},"answer":[]}"#, #"answer is no key here; did you mean "answers"?"#),
    (
      #"{"envelope":{"errorCode":"no"},"answers":[{"error":{"code":2}}]}"#,
      "answers[0].error must have a no that is a whole number, as envelope.errorCode says"
    ),
  ])
  func namesWhatIsWrongWithAnEnvelope(json: String, message: String) {
    let error = #expect(throws: SimulatorError.self) {
      try RequestEnvelope(parsing: Array(json.utf8))
    }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func wantsALoginOnEachConnection() throws {
    var machine = try machine(#"{"login":"login"}"#)
    let refusal =
      #"{"error":{"code":4,"desc":"login first"},"method":"GET","product":"p","service":"s/t","uniqueId":7}"#
    let login = Self.request.replacing("s/t", with: "login")
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(refusal)])
    #expect(machine.handle(.text(login), now: Self.start) == [.text(login)])
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(Self.answer)])
    _ = machine.handle(.opened, now: Self.start)
    #expect(machine.handle(.text(Self.request), now: Self.start) == [.text(refusal)])
  }

  @Test(arguments: [
    ("[]", "the script must be an object"), ("{", "the script is no JSON at line 1, column 2"),
    (#"{"answer":[]}"#, #"answer is no key here; did you mean "answers"?"#),
    (#"{"answers":[{"faults":["dupe"]}]}"#, "answers[0].faults[0] is no fault"),
    (#"{"answers":[{"faults":[1]}]}"#, "answers[0].faults[0] is no fault"),
    (
      #"{"answers":[{"error":{"code":"2"}}]}"#,
      "answers[0].error must have a code that is a whole number"
    ),
    (#"{"answers":[{"error":2}]}"#, "answers[0].error must have a code that is a whole number"),
    (#"{"answers":[{"request":[]}]}"#, "answers[0].request must have whole numbers"),
    (#"{"answers":[{"request":0}]}"#, "answers[0].request must be a whole number"),
    (#"{"answers":[{"after":-1}]}"#, "answers[0].after must be a number of seconds"),
    (#"{"pushes":[{"text":"a","json":1}]}"#, "pushes[0] must have one of the keys"),
    (#"{"pushes":[{"bytes":[256]}]}"#, "pushes[0].bytes must have whole numbers, 0 to 255"),
    (#"{"pushes":[{"text":"a","times":2}]}"#, "pushes[0].times needs the key every"),
    (#"{"answersHeartbeats":1}"#, "answersHeartbeats must be true or false"),
  ])
  func namesWhatIsWrongWithAScript(script: String, message: String) {
    let error = #expect(throws: SimulatorError.self) {
      try RequestScript(parsing: Array(script.utf8))
    }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }
}
