import Glibc

/// Starts a thread.
func startThread(_ work: @escaping @Sendable () -> Void) throws {
  var thread = pthread_t()
  let argument = Unmanaged.passRetained(ThreadWork(work))
  let code = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }, argument.toOpaque())
  guard code == 0 else {
    argument.release()
    throw Child.Failure(description: "no thread: error \(code)")
  }
  pthread_detach(thread)
}

private final class ThreadWork: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Does what blocks a thread, on one of its own: those of tasks are few, and others need them.
func onThread<Result: Sendable>(
  _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    do {
      try startThread { continuation.resume(with: Swift.Result { try work() }) }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
