import Synchronization

/// What a world knows of the application that runs in a scope of the SDK, however many clients lie between.
///
/// A driver has one for its body, and everything that belongs to the scope finds it as the current one.
package final class ApplicationScope: Sendable {
  /// The scope that the task runs in; nil outside of the SDK.
  @TaskLocal package static var current: ApplicationScope?

  private struct State {
    /// How often the body's own task waits for the world: once, or not.
    var waits = 0
    var thrown: String?
  }

  private let state = Mutex(State())
  private let body = ApplicationScope.task

  /// Creates the scope of a body that runs in the current task.
  package init() {}

  /// Names the current task.
  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Whether the body itself waits for something that only the world can bring about.
  package var isBodyWaiting: Bool { state.withLock { $0.waits > 0 } }

  /// What the body threw, in words.
  package var thrown: String? { state.withLock { $0.thrown } }

  /// Notes what the body threw.
  package func note(thrown error: any Error) {
    state.withLock { $0.thrown = "\(error)".hidingSecrets }
  }

  /// Suspends the current task for something that only the world can bring about.
  /// - Parameter wait: Waits for it.
  /// - Returns: What came of it.
  package static func waiting<Value>(
    _ wait: () async throws -> Value
  ) async rethrows -> Value {
    guard let scope = current, scope.body == task else { return try await wait() }
    scope.state.withLock { $0.waits += 1 }
    defer { scope.state.withLock { $0.waits -= 1 } }
    return try await wait()
  }
}
