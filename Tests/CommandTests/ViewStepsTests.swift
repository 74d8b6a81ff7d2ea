import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise view --sdk`: the SDK's states in a session, step by step.
@Suite struct ViewStepsTests {
  private static let sessions = PackageFolder.recordings.appending(path: "sdk")

  private static func run(
    _ system: String, _ name: String, _ words: [String]
  ) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["view", "--sdk", system, "\(name).jsonl"] + words,
      directory: sessions.appending(path: name.split(separator: "/").count > 1 ? "" : "channel"))
  }

  private static func steps(_ name: String, at frame: Int) throws -> [JSONValue] {
    let result = try run("channel", name, ["--at", "\(frame)", "--format", "json"])
    #expect(result.status == 0 && result.errors == "")
    let page = try #require(JSONValue(parsing: Array(result.output.utf8)))
    return page["steps"]?.elements ?? []
  }

  private static func state(_ step: JSONValue?) -> [String: String] {
    let entries = step?["state"]?.elements ?? []
    return Dictionary(
      entries.map { ($0["name"]?.text ?? "", $0["value"]?.text ?? "") }
    ) { "\($0), \($1)" }
  }

  @Test func showsAStepForPeople() throws {
    let result = try Self.run("channel", "bind-lock-held", ["--at", "6"])
    #expect(
      result.output == """
        Step 8, frame 6, connection 1, 2026-11-21T13:14:10.168016236Z
          13:14:10.168016236      6  #1   ⇐ SUBACK       qos 1
        app bind-lock-held&a1pk behind it
          state       connected
          connection  open
          account     unbound
          client      bind-lock-held&a1pk
        + subscribed  /sys/a1pk/bind-lock-held/app/down/# for application

        """)
    #expect(result.status == 0)
  }

  /// A call is open from the step at which it is made to that of its answer, and its timer is that of its try.
  @Test func tellsCallsAndTimers() throws {
    let name = "bind-lock-held"
    let before = try Self.steps(name, at: 6)
    #expect(Self.state(before.last)["call 2"] == nil)
    let asked = try Self.steps(name, at: 7)
    #expect(asked.map { $0["kind"] } == ["called", "performed"])
    let reply = "/sys/a1pk/bind-lock-held/app/down/account/bind_reply"
    #expect(Self.state(asked.last)["call 2"] == "bind: waits for the reply 1 on \(reply)")
    #expect(
      asked.last?["state"]?.elements?.last?["until"] == "2026-11-21T13:14:20.172466326Z")
    #expect(Self.state(asked.last)["account"] == "binding")
    let refused = try Self.steps(name, at: 8)
    #expect(Self.state(refused.last)["call 2"] == "bind: the next try comes later, 1 try before")
    let given = try Self.steps(name, at: 14)
    #expect(Self.state(given.last)["call 2"] == nil)
    #expect(Self.state(given.last)["account"] == "unbound")
  }

  /// Steps are those of the replay, in its order: what the app calls and is told is what `replay sdk` prints.
  @Test(arguments: ["bind-lock-held", "back-off", "listeners"])
  func hasTheStepsOfTheReplay(_ name: String) throws {
    let replay = try RepriseProcess.run(
      ["replay", "sdk", "\(name).jsonl", "--speed", "max"],
      directory: Self.sessions.appending(path: "channel"))
    let told = replay.output.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    let frames = Set(told.compactMap { Int($0.split(separator: " ").dropFirst().first ?? "") })
    #expect(frames.count > 3)
    for frame in frames.sorted() {
      let own = try Self.steps(name, at: frame).filter {
        !["received", "performed"].contains($0["kind"])
      }
      let lines = told.filter { Int($0.split(separator: " ").dropFirst().first ?? "") == frame }
      #expect(own.map { $0["line"]?.text } == lines, "\(frame)")
    }
  }

  @Test(arguments: [("gateway", "gateway/add-wish"), ("link", "link/flapping-network")])
  func showsOtherSystems(_ system: String, _ name: String) throws {
    let result = try Self.run(system, name, ["--at", "3"])
    #expect(result.status == 0 && result.output.contains(" behind it\n"), "\(result.errors)")
    let other = try Self.run("channel", name, ["--at", "3"])
    #expect(other.status == 2 && other.errors.hasSuffix("type --sdk \(system)\n"))
  }

  private static func states(
    _ system: String, _ name: String, at frame: Int
  ) throws -> [String: String] {
    let result = try run(system, name, ["--at", "\(frame)", "--format", "json"])
    #expect(result.status == 0, "\(result.errors)")
    let page = try #require(JSONValue(parsing: Array(result.output.utf8)))
    return state(page["steps"]?.elements?.last)
  }

  /// What a gateway and a link wait for, call by call, as a channel's.
  @Test func tellsWhatGatewaysAndLinksWaitFor() throws {
    let asked = try Self.states("gateway", "gateway/batch", at: 10)
    let reply = "/sys/a1pk/batch/thing/topo/add_reply"
    #expect(asked["subscribed"] == reply)
    #expect(asked["operation 1"] == "addTopology batch/a, batch/b: waits for request 1")
    #expect(asked["request 1"] == "waits for the reply 1 on \(reply)")
    #expect(asked["call 6"] == "waits for 1 request or operation")
    let greeting = try Self.states("link", "link/link-users-late", at: 6)
    #expect(greeting["connection"] == "says who it is, waits for the server's answer")
    #expect(greeting["call 1"] == "log in: waits until the link is connected")
    let subscribing = try Self.states("link", "link/link-users-late", at: 12)
    #expect(subscribing["heartbeat"] == "the next")
    #expect(subscribing["call 2"] == "subscribe a: waits for the server")
    let joining = try Self.states("link", "link/topic-subscribe", at: 4)
    #expect(joining["call 1"] == "join: waits until the link is connected")
    #expect(joining["timer"] == "it gives up" && joining["channel"] == "room")
    let renewing = try Self.states("link", "link/link-token-ends-soon", at: 11)
    #expect(
      renewing["token"] == "valid" && renewing["call 2"] == "renew the token: waits for the server")
  }

  @Test func tellsWhereItDoesNothing() throws {
    let result = try Self.run("channel", "bind-lock-held", ["--at", "9"])
    #expect(
      result.status == 2
        && result.errors == "reprise: bind-lock-held.jsonl: the SDK does nothing at frame 9\n")
    let alone = try RepriseProcess.run(["view", "x.jsonl", "--client-id", "c"])
    #expect(alone.errors == "reprise: --client-id is for --sdk; add --sdk channel\n")
  }

  @Test func stepsForwardAndBackward() throws {
    let tmux = try Tmux(width: 120, height: 30)
    let file = Self.sessions.appending(path: "channel/bind-lock-held.jsonl").path
    // What is typed before the shell is back is the viewer's.
    try tmux.enter("$reprise view --sdk channel \(RepriseProcess.quoted(file)); echo status $?")
    try tmux.wait("the steps") { $0.contains("app bind-lock-held&a1pk  1/31  frame 3") }
    try tmux.press("Enter")
    try tmux.wait("the state") { $0.contains("call 1      start: waits for the connection") }
    for _ in 0..<3 { try tmux.press("Down") }
    try tmux.wait("a step forward") { $0.contains("+ connection  open") }
    try tmux.press("Up")
    try tmux.wait("a step back") { $0.contains("call 1      start: waits") }
    try tmux.type("q/bind 2")
    try tmux.press("Enter", "Enter")
    try tmux.wait("the call") { $0.contains("+ account     binding") }
    try tmux.type("qq")
    try tmux.wait("the status") { $0.contains("status 0") }
  }
}
