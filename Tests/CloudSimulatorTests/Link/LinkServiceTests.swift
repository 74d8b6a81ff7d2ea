import RepriseCore
import Testing

@testable import CloudSimulator

/// The server of links, message by message.
@Suite struct LinkServiceTests {
  private static let alice = "link/app/message/alice/s1"
  private static let login = #"{"id":"1","token":"t","heartbeatInterval":5,"presenceTimeout":300}"#

  private static func message(_ topic: String, _ payload: String) -> LinkServiceMachine.Input {
    .received(Message(topic: topic, payload: Array(payload.utf8)))
  }

  private static func lines(_ messages: [Message]) -> [String] {
    messages.map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" }
  }

  /// A server that knows a user.
  private static func service() -> LinkServiceMachine {
    var service = LinkServiceMachine()
    _ = service.handle(message(alice + "/up/login", login), now: seconds(0))
    return service
  }

  @Test func takesUsersIn() {
    var service = LinkServiceMachine()
    let input = Self.message(Self.alice + "/up/login", Self.login)
    #expect(
      Self.lines(service.handle(input, now: seconds(0))) == [
        Self.alice + #"/down/reply {"id":"1","code":0,"expiresIn":86400}"#
      ])
    #expect(service.connectionCount == 1 && service.deadline == seconds(315))
  }

  @Test func answersHeartbeatsOfThoseItKnows() {
    var service = Self.service()
    let ping = Self.message(Self.alice + "/up/ping", "7")
    #expect(Self.lines(service.handle(ping, now: seconds(5))) == [Self.alice + "/down/pong 7"])
    let other = Self.message("link/app/message/alice/s2/up/ping", "7")
    #expect(service.handle(other, now: seconds(6)) == [])
    #expect(service.suspects(at: seconds(20)) == ["alice"])
    #expect(service.suspects(at: seconds(19.9)) == [])
  }

  @Test(arguments: [
    "renew", "subscribe", "unsubscribe", "state", "logout",
  ])
  func asksOthersToLogIn(verb: String) {
    var service = LinkServiceMachine()
    let topic = Self.alice + "/up/" + verb
    #expect(
      Self.lines(service.handle(Self.message(topic, #"{"id":"3"}"#), now: seconds(0))) == [
        Self.alice + #"/down/reply {"id":"3","code":-10002}"#
      ])
    #expect(service.handle(Self.message(topic, "{}"), now: seconds(0)) == [])
  }

  @Test(arguments: [
    ("login", #"{"id":"1"}"#, -10_014),
    ("login", #"{"id":"1","heartbeatInterval":4,"presenceTimeout":300}"#, -10_014),
    ("login", #"{"id":"1","heartbeatInterval":5,"presenceTimeout":301}"#, -10_014),
    ("subscribe", #"{"id":"1","channel":""}"#, -10_014), ("subscribe", #"{"id":"1"}"#, -10_014),
    ("state", #"{"id":"1","channel":"x"}"#, -11_002),
  ])
  func refusesWhatCannotBe(verb: String, payload: String, code: Int) {
    var service = Self.service()
    let input = Self.message(Self.alice + "/up/" + verb, payload)
    #expect(
      Self.lines(service.handle(input, now: seconds(0))) == [
        Self.alice + #"/down/reply {"id":"1","code":\#(code)}"#
      ])
  }

  @Test(arguments: [
    "link/app/message/alice/s1/up/other", "link/app/message/alice/s1/ping", "x", "",
    "link/app/other/alice/s1/up/ping", "link/app/stream/alice/s1/up/join",
    "link/app/message/%ZZ/s1/up/login", "link/app/message/alice/s1/room/up/login",
  ])
  func ignoresWhatIsNotForIt(topic: String) {
    var service = Self.service()
    for payload in ["", "1", "{", Self.login] {
      #expect(service.handle(Self.message(topic, payload), now: seconds(1)) == [])
    }
  }

  @Test func saysWhatItsRulesSay() {
    var rules = LinkServiceRules()
    rules.tokens = ["t": .init(code: -10_012, reason: 37)]
    var service = LinkServiceMachine(rules)
    let input = Self.message(Self.alice + "/up/login", Self.login)
    #expect(
      Self.lines(service.handle(input, now: seconds(0))) == [
        Self.alice + #"/down/reply {"id":"1","code":-10012,"reason":37}"#
      ])
    #expect(service.connectionCount == 0)
  }

  @Test func readsNamesThatAreWrittenWithDigits() {
    #expect(
      LinkAddress.parse("link/a%2Fb/message/%2B/s/up/ping")?.address.user
        == .init(app: "a/b", user: "+"))
    #expect(LevelName.encode("a+b#c/d%\0") == "a%2Bb%23c%2Fd%25%00")
    for level: Substring in ["%", "%1", "%G0", "%FF"] { #expect(LevelName.decode(level) == nil) }
  }

  @Test func countsConnectionsUntilTheBrokerOrTheUserEndsThem() {
    var service = Self.service()
    _ = service.handle(Self.message("link/app/message/bob/s/up/login", Self.login), now: seconds(0))
    #expect(service.connectionCount == 2)
    _ = service.handle(Self.message("link/app/message/bob/s/up/lost", ""), now: seconds(1))
    #expect(service.connectionCount == 1)
    _ = service.handle(Self.message(Self.alice + "/up/logout", "{}"), now: seconds(2))
    #expect(service.connectionCount == 0 && service.peakConnectionCount == 2)
  }
}
