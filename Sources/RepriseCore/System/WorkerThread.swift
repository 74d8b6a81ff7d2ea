#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of our own, for what blocks: a socket, a deadline, a file.
///
/// Its maker joins or detaches it, once.
package struct WorkerThread: Sendable {
  private let thread: pthread_t

  /// Starts a thread.
  /// - Parameter body: What it does; the thread ends with it.
  /// - Throws: ``DataClientError`` when the system gives no thread.
  package init(_ body: @escaping @Sendable () -> Void) throws(DataClientError) {
    let work = Unmanaged.passRetained(Work(body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, nil, { Work.run($0) }, work.toOpaque())
      let started = thread
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, nil, { Work.run($0) }, work.toOpaque())
      let started: pthread_t? = thread
    #endif
    guard code == 0, let started else {
      work.release()
      throw DataClientError(.transport, "no thread could be started: \(systemText(code))")
    }
    self.thread = started
  }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }

  /// Leaves the thread to end on its own.
  package func detach() { pthread_detach(thread) }

  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let argument else { return nil }
      Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }
  }
}
