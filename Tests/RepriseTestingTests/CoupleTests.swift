import CloudSimulator
import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import RepriseTesting

/// A test with several recordings, which share one time.
@Suite struct CoupleTests {
  /// A speaker and a listener on one broker.
  private final class Couple: Sendable {
    let broker = InProcessBroker()

    func speaker() -> any DataClient { Guest(broker.client(named: "speaker")) }
    func listener() -> any DataClient { Guest(broker.client(named: "listener")) }
  }

  /// A client that goes for good when it disconnects, so that the broker waits for it no longer.
  private struct Guest: DataClient {
    private let client: InProcessClient

    init(_ client: InProcessClient) { self.client = client }

    var capabilities: Capabilities { client.capabilities }
    var now: Timestamp { client.now }
    func wake() { client.wake() }

    func perform(_ action: ClientAction) async throws {
      try await client.perform(action)
      if case .disconnect = action.kind { client.leave() }
    }

    func next(before deadline: Timestamp?) async throws -> ClientEvent {
      try await client.next(before: deadline)
    }
  }

  /// What both did.
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    func append(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// The broker that this run records from, if it does.
  private static let couple = Couple()

  /// Lets the speaker say something every minute of an hour, and the listener hear it.
  /// - Returns: What both did, in order.
  private static func talk(
    _ speaker: any DataClient, _ listener: any DataClient, minutes: Int = 60
  ) async throws -> [String] {
    let lines = Lines()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var user = CoupleUser(listener, "listener")
        try await user.connect()
        try await user.perform(.subscribe([Subscription("talk", qos: .atMostOnce)]))
        _ = try await user.next()
        for _ in 0..<minutes {
          guard case .message(let message) = try await user.next() else { return }
          lines.append("heard \(String(decoding: message.payload, as: UTF8.self))")
        }
        try await user.perform(.disconnect)
      }
      group.addTask {
        var user = CoupleUser(speaker, "speaker")
        try await user.connect()
        var moment = speaker.now
        for minute in 1...minutes {
          moment = moment.advanced(by: .seconds(60))
          guard try await user.next(before: moment) == .deadline else { return }
          lines.append("said \(minute)")
          let message = Message(topic: "talk", payload: Array("\(minute)".utf8))
          try await user.perform(.publish(message))
          guard case .published = try await user.next() else { return }
        }
        try await user.perform(.disconnect)
      }
      try await group.waitForAll()
    }
    return lines.all
  }

  private static let hour = (1...60).flatMap { ["said \($0)", "heard \($0)"] }

  @Test(
    .replay("couple/speaker", on: { couple.speaker() }),
    .replay("couple/listener", on: { couple.listener() }))
  func oneSpeaksAndTheOtherHears() async throws {
    let lines = try await Self.talk(
      try TestClient.named("couple/speaker"), try TestClient.named("couple/listener"))
    #expect(lines == Self.hour)
    // The last one that is named is the innermost.
    #expect(try TestClient.current === TestClient.named("couple/listener"))
    let error = #expect(throws: CassetteError.self) { try TestClient.named("speaker") }
    #expect(
      error?.message
        == #"the test has no recording "speaker"; it has "couple/listener", "couple/speaker""#)
  }

  /// The near miss: each in a time of its own, everything is heard before anything is said.
  @Test func withoutASharedTimeTheyDoNotTalk() async throws {
    let lines = try await Cassette("couple/speaker").withClient { speaker in
      try await Cassette("couple/listener").withClient { listener in
        try await Self.talk(speaker, listener)
      }
    }
    #expect(lines != Self.hour && lines.sorted() == Self.hour.sorted())
  }

  @Test func cassettesMayShareATime() async throws {
    for _ in 0..<20 {
      let options = ReplayOptions(pace: .shared(SharedTime()))
      let lines = try await Cassette("couple/speaker", options: options).withClient { speaker in
        try await Cassette("couple/listener", options: options).withClient { listener in
          try await Self.talk(speaker, listener)
        }
      }
      #expect(lines == Self.hour)
    }
  }

  /// What one leaves out is told for its recording alone.
  @Test func whatOneLeavesOutIsTold() async throws {
    let told = try await ToldIssues.gathering {
      let options = ReplayOptions(pace: .shared(SharedTime()))
      try await Cassette("couple/speaker", options: options).withClient { speaker in
        try await Cassette("couple/listener", options: options).withClient { listener in
          _ = try await Self.talk(speaker, listener, minutes: 59)
        }
      }
    }
    #expect(told.issues.map(\.isFailure) == [true], "\(told)")
    let text = try #require(told.issues.first?.text)
    #expect(text.contains("expected: PUBLISH talk, QoS 0") && text.contains("speaker.jsonl"))
  }

  // MARK: Recordings that belong together

  /// Runs a body in a test with two recordings.
  private static func running(
    in folder: Scratch, _ mode: RecordingMode, _ environment: [String: String] = [:],
    body: @escaping @Sendable () async throws -> Void
  ) async throws -> ToldIssues {
    let couple = Couple()
    let traits = [
      ReplayTrait.replay("a", mode: mode, in: folder.path, on: { couple.speaker() }),
      ReplayTrait.replay("b", mode: mode, in: folder.path, on: { couple.listener() }),
    ]
    return try await ToldIssues.running(traits, environment, body)
  }

  @Test func theyAreRecordedTogether() async throws {
    let folder = Scratch()
    let talk: @Sendable () async throws -> Void = {
      let lines = try await Self.talk(
        try TestClient.named("a"), try TestClient.named("b"), minutes: 3)
      #expect(lines == Array(Self.hour.prefix(6)))
    }
    let told = try await Self.running(in: folder, .once, body: talk)
    #expect(told == ToldIssues(), "\(told)")
    #expect(folder.files == ["a.jsonl", "b.jsonl"])
    for mode in [RecordingMode.none, .once, .new, .verify, .all, .none] {
      let told = try await Self.running(in: folder, mode, body: talk)
      #expect(told == ToldIssues(), "\(mode): \(told)")
    }
  }

  /// One that is missing is not made to go with others that are of another run.
  @Test(arguments: [RecordingMode.none, .once, .new, .verify])
  func oneAloneIsNotMadeAnew(_ mode: RecordingMode) async throws {
    let folder = Scratch()
    try folder.write("", to: "b.jsonl")
    let told = try await Self.running(in: folder, mode) { Issue.record("the body ran") }
    #expect(
      told
        == ToldIssues(
          thrown: """
            \(folder.path)/a.jsonl: there is no such recording, and there are others of the same test; make all \
            of them anew by REPRISE_RECORD=all swift test --filter oneAloneIsNotMadeAnew
            """))
    #expect(folder.files == ["b.jsonl"])
  }

  @Test func oneRecordingIsNoneOfTwoClients() async throws {
    let folder = Scratch()
    let traits = [
      ReplayTrait.replay("a", in: folder.path), ReplayTrait.replay("a.jsonl", in: folder.path),
    ]
    let told = try await ToldIssues.running(traits) {}
    #expect(
      told.thrown
        == "\(folder.path)/a.jsonl: the test has this recording twice; give each client one of its own"
    )
  }
}

/// Performs actions, and reads.
private struct CoupleUser {
  private let client: any DataClient
  private let name: String
  private var lastID: UInt32 = 0

  init(_ client: any DataClient, _ name: String) {
    self.client = client
    self.name = name
  }

  mutating func perform(_ kind: ClientAction.Kind) async throws {
    lastID += 1
    try await client.perform(ClientAction(.init(rawValue: lastID), kind))
  }

  mutating func connect() async throws {
    try await perform(.connect(ConnectOptions(clientID: name)))
    _ = try await client.next(before: nil)
  }

  func next(before deadline: Timestamp? = nil) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }
}
