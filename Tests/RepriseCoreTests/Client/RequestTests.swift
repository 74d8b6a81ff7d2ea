import RepriseCore
import Testing

/// Requests that are sent and awaited, one after the other.
@Suite struct RequestTests {
  private struct Number: Request {
    typealias Response = [String: Int]
    let path: String
  }

  private static func client() throws -> LocalFileClient {
    let requests = #"""
      {"requests": [{"path": "slow", "body": {"n": 1}, "after": 20},
                    {"path": "slower", "body": {"n": 2}, "after": 30}]}
      """#
    return try LocalFileClient(files: ["requests.json": Array(requests.utf8)])
  }

  @Test func aLateAnswerIsNotThatToTheNextRequest() async throws {
    let client = try Self.client()
    let error = await #expect(throws: DataClientError.self) {
      try await client.send(Number(path: "slow"), timeout: .seconds(10))
    }
    #expect(error?.code == .timedOut)
    #expect(try await client.send(Number(path: "slower"), timeout: .seconds(60)) == ["n": 2])
  }

  /// A response that no JSON decoder knows, made by the request's own decoder.
  private struct Length: Request {
    let path: String
    func decode(_ body: [UInt8]) throws -> Int {
      guard body.count < 9 else { throw CancellationError() }
      return body.count
    }
  }

  @Test func aRequestDecodesWhatItWants() async throws {
    let requests =
      #"{"requests": [{"path": "a", "body": {"n": 1}}, {"path": "b", "body": {"n": 100}}]}"#
    let client = try LocalFileClient(files: ["requests.json": Array(requests.utf8)])
    #expect(try await client.send(Length(path: "a")) == 7)
    let error = await #expect(throws: DataClientError.self) {
      try await client.send(Length(path: "b"))
    }
    #expect(error?.code == .undecodable)
  }

  @Test func aClosureGetsTheResponseOnTheMainActor() async throws {
    let client = try Self.client()
    let response = await withCheckedContinuation { done in
      client.send(Number(path: "slow"), timeout: .seconds(60)) { @MainActor result in
        MainActor.assertIsolated()
        done.resume(returning: result)
      }
    }
    #expect(try response.get() == ["n": 1])
  }

  @Test func aClosureGetsTheErrorOfARequestThatIsTakenBack() async throws {
    let client = try Self.client()
    let response = await withCheckedContinuation { done in
      let task = client.send(Number(path: "missing-and-slow")) { done.resume(returning: $0) }
      task.cancel()
    }
    #expect(throws: (any Error).self) { try response.get() }
  }

  @Test func theAnswerToACancelledRequestIsNotThatToTheNext() async throws {
    let client = try Self.client()
    await withThrowingTaskGroup(of: [String: Int].self) { group in
      group.addTask {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.send(Number(path: "slow"))
      }
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    #expect(try await client.send(Number(path: "slower"), timeout: .seconds(60)) == ["n": 2])
  }
}
