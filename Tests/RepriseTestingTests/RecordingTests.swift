import CloudSimulator
import Foundation
import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import RepriseTesting

/// How a recording is written, or not, and what must not stand in it.
@Suite struct RecordingTests {
  private static let live: @Sendable () async throws -> any DataClient = {
    InProcessBroker().client(named: "lamp")
  }

  private static func obey(_ orders: [String] = ["on"]) async throws {
    var lamp = Lamp(try TestClient.current)
    #expect(try await lamp.obey(orders) == orders)
  }

  /// How a test fails while it is recorded.
  enum Failing: CaseIterable { case byExpectation, byError, byCancellation }

  @Test(arguments: Failing.allCases, [false, true])
  func aTestThatFailsLeavesTheFileAsItWas(_ failing: Failing, _ exists: Bool) async throws {
    struct Broken: Error {}
    let folder = Scratch()
    if exists { try folder.write("whatever it was", to: "lamp.jsonl") }
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .all, in: folder.path, on: Self.live)
    ) {
      try await Self.obey()
      switch failing {
      case .byExpectation: Issue.record("not like this")
      case .byError: throw Broken()
      case .byCancellation: throw CancellationError()
      }
    }
    #expect(folder.files == (exists ? ["lamp.jsonl"] : []))
    if exists { #expect(try folder.read("lamp.jsonl") == "whatever it was") }
    let nothing =
      "\(folder.path)/lamp.jsonl: nothing was recorded\(exists ? ", and the file is as it was" : ""), as the test "
    let line = try #require(Test.current).sourceLocation.line
    let warnings = told.issues.filter { !$0.isFailure }
    switch failing {
    case .byExpectation:
      #expect(warnings == [.init(line: line, isFailure: false, text: nothing + "failed")])
      #expect(told.issues.first?.text == "not like this" && told.issues.count == 2)
      #expect(told.thrown == nil)
    case .byError:
      let text = nothing + "ended with an error: Broken()"
      #expect(told.issues == [.init(line: line, isFailure: false, text: text)])
      #expect(told.thrown == "Broken()")
    case .byCancellation:
      let text = nothing + "ended with an error: CancellationError()"
      #expect(told.issues == [.init(line: line, isFailure: false, text: text)])
      #expect(told.thrown == "CancellationError()")
    }
  }

  @Test func aWarningIsNoFailure() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .all, in: folder.path, on: Self.live)
    ) {
      Issue.record("slow", severity: .warning)
      withKnownIssue { Issue.record("known") }
      try await Self.obey()
    }
    #expect(told.issues.map(\.text) == ["slow", "known"] && told.thrown == nil)
    #expect(folder.files == ["lamp.jsonl"])
  }

  @Test func aFolderThatIsAFileIsTold() async throws {
    let folder = Scratch()
    try folder.write("", to: "taken")
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .all, in: "\(folder.path)/taken", on: Self.live)
    ) { try await Self.obey() }
    #expect(told.issues == [])
    #expect(told.thrown?.contains("\(folder.path)/taken") ?? false)
    #expect(folder.files == ["taken"])
  }

  @Test func foldersInANameAreMade() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("rooms/kitchen/lamp", mode: .once, in: folder.path, on: Self.live)
    ) { try await Self.obey() }
    #expect(told == ToldIssues())
    #expect(folder.files.last == "rooms/kitchen/lamp.jsonl")
  }

  @Test(arguments: ["", "/lamp", "../lamp", "a//b", "a/./b", "a/", "a\\b", "c:lamp", "a\nb"])
  func aNameThatIsNoFileIsTold(_ name: String) async throws {
    let told = try await ToldIssues.running(.replay(name)) {}
    #expect(
      told.thrown == """
        "\(name)" can't be the name of a recording; name a file below the folder of recordings, as in "lamp/bind"
        """)
  }

  @Test func twoTestsDoNotRecordIntoOneFileAtOnce() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .all, in: folder.path, on: Self.live)
    ) {
      try await Self.obey()
      // The environment of the outer one is that of the inner one here.
      let inner = try await ToldIssues.running(
        .replay("lamp", mode: .all, in: folder.path, on: Self.live)
      ) { try await Self.obey() }
      #expect(
        inner.thrown == """
          \(folder.path)/lamp.jsonl: another test records into it at the same time; give each test a recording of its own
          """)
    }
    #expect(told == ToldIssues())
    #expect(folder.files == ["lamp.jsonl"])
  }

  @Test func manyTestsReplayOneFileAtOnce() async throws {
    let folder = Scratch()
    _ = try await ToldIssues.running(.replay("lamp", mode: .all, in: folder.path, on: Self.live)) {
      try await Self.obey(["on", "off"])
    }
    let told = try await ToldIssues.gathering {
      try await Surroundings.$replaced.withValue([:]) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<20 {
            group.addTask {
              let heard = try await Cassette("lamp", in: folder.path).withClient { client in
                var lamp = Lamp(client)
                return try await lamp.obey(["on", "off"])
              }
              #expect(heard == ["on", "off"])
            }
          }
          try await group.waitForAll()
        }
      }
    }
    #expect(told == ToldIssues())
  }

  // MARK: Secrets

  @Test func secretsAreHiddenWhenTheyAreRecorded() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("login", mode: .all, in: folder.path, on: Self.live)
    ) {
      try await Self.logIn(with: "hush")
    }
    #expect(told == ToldIssues())
    #expect(try !folder.read("login.jsonl").contains("hush"))
    // A replay takes any password for the hidden one.
    let again = try await ToldIssues.running(.replay("login", in: folder.path)) {
      try await Self.logIn(with: "other")
    }
    #expect(again == ToldIssues())
  }

  @Test(arguments: [
    ("password", 3, "password", "CONNECT"), ("payload", 5, "payload", "PUBLISH"),
  ])
  func aSecretInClearFailsTheTestAtItsPlace(
    _ kind: String, _ line: Int, _ key: String, _ type: String
  ) async throws {
    let folder = Scratch()
    let showing = RedactionRules(hidesSecrets: false)
    _ = try await ToldIssues.running(
      .replay("login", mode: .all, redact: showing, in: folder.path, on: Self.live)
    ) {
      try await Self.logIn(
        with: kind == "password" ? "hush" : nil, token: kind == "payload" ? "hush" : nil)
    }
    #expect(try folder.read("login.jsonl").contains("hush"))
    let isRun = Mutex(false)
    for mode in [RecordingMode.none, .once, .new, .verify] {
      let told = try await ToldIssues.running(
        .replay("login", mode: mode, in: folder.path, on: Self.live)
      ) {
        isRun.withLock { $0 = true }
      }
      #expect(
        told
          == ToldIssues(
            thrown: """
              \(folder.path)/login.jsonl: line \(line) has a secret in clear, in "\(key)" of its \(type); record it anew, or \
              hide it: reprise convert \(folder.path)/login.jsonl --redact secrets -o NEW
              """))
    }
    #expect(isRun.withLock { !$0 })
    // Where secrets are wanted in clear, they are no fault.
    let allowed = try await ToldIssues.running(
      .replay("login", redact: showing, in: folder.path)
    ) {
      try await Self.logIn(
        with: kind == "password" ? "hush" : nil, token: kind == "payload" ? "hush" : nil)
    }
    #expect(allowed == ToldIssues())
  }

  /// A star for each byte, as `reprise redact` writes them into captures, is no secret in clear.
  @Test func starsAreNoSecrets() async throws {
    let folder = Scratch()
    let showing = RedactionRules(hidesSecrets: false)
    let trait = ReplayTrait.replay(
      "login", mode: .all, redact: showing, in: folder.path, on: Self.live)
    _ = try await ToldIssues.running(trait) {
      try await Self.logIn(with: "**********", token: "******")
    }
    let told = try await ToldIssues.running(.replay("login", in: folder.path)) {
      try await Self.logIn(with: "hush-hush!", token: "hush-2")
    }
    #expect(told == ToldIssues())
  }

  /// What was hidden by a rule of the user's own must be hidden in what is replayed.
  @Test func aRuleThatCameLaterIsTold() async throws {
    let folder = Scratch()
    _ = try await ToldIssues.running(.replay("lamp", mode: .all, in: folder.path, on: Self.live)) {
      try await Self.obey()
    }
    let told = try await ToldIssues.running(
      .replay("lamp", redact: RedactionRules(topics: ["home/#"]), in: folder.path)
    ) {}
    #expect(
      told.thrown?.contains(#"lamp.jsonl: line 7 has a secret in clear, in "payload""#) ?? false)
  }

  /// No recording of this project, all of which were written with their secrets hidden, is accused.
  @Test func noRecordingOfThisProjectIsAccused() throws {
    let names = PackageFolder.recorded.filter { $0.hasSuffix(".jsonl") }
    #expect(names.count > 200)
    for name in names {
      let bytes = [UInt8](try Data(contentsOf: PackageFolder.recordings.appending(path: name)))
      var check = SecretCheck(RedactionRules())
      var stream = RecordingStream()
      try stream.consume(bytes.span.bytes, into: &check)
      try stream.finish(into: &check)
      #expect(check.found == nil, "\(name)")
    }
  }

  private static func logIn(with password: String?, token: String? = nil) async throws {
    let client = try TestClient.current
    var options = ConnectOptions(clientID: "lamp")
    options.password = password.map { Array($0.utf8) }
    if password != nil { options.username = "lamp" }
    try await client.perform(ClientAction(.init(rawValue: 1), .connect(options)))
    #expect(try await client.next(before: nil) == .connected(.init()))
    let text = token.map { #"{"token":"\#($0)"}"# } ?? "{}"
    let message = Message(topic: "login", payload: Array(text.utf8), qos: .atLeastOnce)
    try await client.perform(ClientAction(.init(rawValue: 3), .publish(message)))
    #expect(try await client.next(before: nil) == .published(.init(rawValue: 3)))
    try await client.perform(ClientAction(.init(rawValue: 4), .disconnect))
    #expect(try await client.next(before: nil) == .closed(.byUser))
  }
}
