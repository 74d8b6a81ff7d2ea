import Glibc
package import RepriseCore

/// A thread of our own, for what blocks: a socket, a deadline.
///
/// Its maker joins or detaches it, once.
package struct WorkerThread: Sendable {
  private let thread: pthread_t

  /// Starts a thread.
  /// - Parameter body: What it does; the thread ends with it.
  /// - Throws: ``DataClientError`` when the system gives no thread.
  package init(_ body: @escaping @Sendable () -> Void) throws(DataClientError) {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      throw DataClientError(.transport, "no thread could be started: \(systemText(code))")
    }
    self.thread = thread
  }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }

  /// Leaves the thread to end on its own.
  func detach() { pthread_detach(thread) }

  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
