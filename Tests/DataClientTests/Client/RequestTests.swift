import DataClient
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
