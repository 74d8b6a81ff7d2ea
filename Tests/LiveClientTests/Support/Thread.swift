import RepriseCore

/// Starts a thread that ends on its own.
func startThread(_ work: @escaping @Sendable () -> Void) throws {
  try WorkerThread(work).detach()
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
