import CloudSimulator
import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

private struct Target: RequestTarget {
  var service = "ask"
  var parameters: JSONValue = [:]
}

/// Tells the stages of requests as they come.
private struct Witness: RequestPlugin {
  let stages: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stages, continuation) = AsyncStream.makeStream() }

  func willSend(_ target: any RequestTarget) { continuation.yield("willSend") }
  func willReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    continuation.yield("willReceive")
  }
  func didReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    continuation.yield((try? result.get()) == nil ? "failed" : "answered")
    continuation.finish()
  }

  /// All stages of one request.
  func all() async -> [String] { await stages.reduce(into: []) { $0.append($1) } }
}

/// What the clauses of requests promise and no scenario can show.
@Suite struct RequestPromiseTests {
  /// Without heartbeats, as virtual time would pass from one to the next.
  private static let quiet: RequestConfiguration = {
    var configuration = RequestConfiguration()
    configuration.heartbeatInterval = nil
    return configuration
  }()

  @Test func knowsTheMethods() {
    #expect(
      Set(RequestMethod.allCases.map(\.rawValue)) == [
        "OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT",
      ])
    #expect(Target().method == .post)
  }

  @Test func knowsTheCodesAndTheTimes() {
    let codes = RequestError.Kind.allCases.map(\.rawValue).filter { (-15)...(-11) ~= $0 }
    #expect(Set(codes) == [-11, -12, -13, -14, -15])
    let configuration = RequestConfiguration()
    #expect(configuration.connectTimeout == .seconds(5) && configuration.timeout == .seconds(15))
    #expect(configuration.heartbeatInterval == .seconds(15))
    #expect(configuration.reconnectLimit == 20 && configuration.resendCount == 0)
    #expect(configuration.product == "app_iOS")
  }

  @Test(
    arguments: [
      { $0.reconnectLimit = -1 }, { $0.resendCount = -1 }, { $0.heartbeatInterval = .zero },
      { $0.whileConnecting = .queue(limit: 0) },
      {
        var format = JSONRequestFormat()
        format.methodKey = format.idKey
        $0.format = format
      },
    ] as [@Sendable (inout RequestConfiguration) -> Void])
  func refusesWhatCannotBe(_ change: @Sendable (inout RequestConfiguration) -> Void) async {
    var configuration = RequestConfiguration()
    change(&configuration)
    let server = InProcessRequestServer()
    let error = await #expect(throws: RequestError.self) {
      try await withRequests(on: server, configuration: configuration) { _ in }
    }
    #expect(error?.kind == .client)
    let provider = RequestProvider<Target>(client: server, configuration: configuration)
    await #expect(throws: RequestError.self) { try await provider.answer(to: Target()) }
  }

  @Test func pluginsSeeTheEndOfWhatALetGoProviderAskedFor() async throws {
    let late = InProcessRequestServer(RequestScript(answers: [.init(delay: .seconds(5))]))
    let witness = Witness()
    try await withRequests(on: late, configuration: Self.quiet) { connection in
      try await connection.open()
      RequestProvider<Target>(connection, plugins: [witness]).request(Target()) { _ in }
      #expect(await witness.all() == ["willSend", "willReceive", "answered"])
    }
    // With its own connection, what it asked for ends with it.
    let silent = InProcessRequestServer(RequestScript(answers: [.init(faults: [.noAnswer])]))
    let other = Witness()
    RequestProvider<Target>(client: silent, configuration: Self.quiet, plugins: [other])
      .request(Target()) { _ in }
    #expect(await other.all() == ["willSend", "willReceive", "failed"])
  }

  /// A fleet that lost its server does not come back all at the same moment, unless it is told to.
  @Test func everyConnectionHasAJitterOfItsOwn() throws {
    let server = InProcessRequestServer()
    var configuration = RequestConfiguration()
    let seeds = try (0..<4).map { _ in
      try RequestConnection(server, configuration, [], nil).configuration.jitterSeed
    }
    #expect(Set(seeds).count == 4 && !seeds.contains(nil))
    configuration.jitterSeed = 7
    #expect(try RequestConnection(server, configuration, [], nil).configuration.jitterSeed == 7)
    let delays = try (0..<50 as Range<UInt64>).map { seed in
      var bench = try RequestBench {
        $0.jitterSeed = seed
        $0.reconnect = BackOff(first: .seconds(3))
      }
      bench.call("open", .open)
      bench.receive(.closed(.lost("test")))
      return try #require(bench.machine.deadline).nanoseconds(since: bench.now)
    }
    #expect(Set(delays).count == 50)
    #expect(delays.allSatisfy { (3_000_000_000...3_750_000_000).contains($0) })
  }

  @Test func theServersOwnMessagesAreDroppedForASlowReaderAndCounted() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
    let kept = try await withRequests(on: client, configuration: Self.quiet) { connection in
      try await connection.open()
      let messages = connection.serverMessages(limit: 2)
      client.feed((1...4).map { .text(#"{"news":\#($0)}"#) } + [.binary([5])])
      await client.settle()
      #expect(connection.droppedMessages == 3)
      #expect(connection.statistics.pushes == 5)
      return messages
    }
    #expect(
      await kept.reduce(into: []) { $0.append($1) } == [.json(["news": 4]), .binary([5])])
  }

  @Test func theLogShowsNeitherParametersNorContent() async throws {
    let lines = Mutex<[String]>([])
    let logger = RequestLogger { line in lines.withLock { $0.append(line) } }
    let script = RequestScript(answers: [
      .init(service: "ask", content: ["token": "secret"]),
      .init(service: "busy", error: ["code": 2, "desc": "busy"]),
    ])
    try await withRequests(on: InProcessRequestServer(script), configuration: Self.quiet) {
      connection in
      try await connection.open()
      let provider = RequestProvider<Target>(connection, plugins: [logger])
      _ = try await provider.answer(to: Target(parameters: ["password": "secret"]))
      _ = try? await provider.answer(to: Target(service: "busy"))
    }
    #expect(
      lines.withLock { $0 } == [
        "→ POST ask", "← ask (request 1)", "→ POST busy", "← busy -1/2: busy (request 2)",
      ])
  }

  @Test func requestsOfManyTasksHaveTheirOwnAnswers() async throws {
    let server = InProcessRequestServer()
    try await withRequests(on: server, configuration: Self.quiet) { connection in
      try await connection.open()
      let answers = try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
        for number in 0..<200 {
          group.addTask {
            let target = Target(parameters: ["n": .number("\(number)")])
            return (number, try await connection.answer(to: target).content)
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      #expect(answers.count == 200)
      for (number, content) in answers { #expect(content == ["n": .number("\(number)")]) }
      #expect(connection.statistics == RequestStatistics())
    }
  }
}
