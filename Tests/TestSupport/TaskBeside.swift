/// Does something while a task runs beside it, such as a server, and ends that.
/// - Parameters:
///   - task: What runs beside it; that it is cancelled at the end is no error.
///   - body: What is done meanwhile.
/// - Returns: What the body returns.
/// - Throws: What the body throws, and what the task does.
public func beside<Value>(
  _ task: @escaping @Sendable () async throws -> Void, _ body: () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask {
      do { try await task() } catch is CancellationError {}
    }
    let value = try await body()
    group.cancelAll()
    try await group.waitForAll()
    return value
  }
}
