import LiveClient
package import RepriseCore
import Synchronization

/// Stands between any client and any server, passes all bytes on and shows them to a tap.
///
/// One thread does everything, without waiting for anyone: hundreds of connections at once, halves that end apart,
/// connections that are broken off. What one side does not take is not read from the other one.
package final class Proxy: Sendable {
  /// What a proxy does besides passing on, and when it ends of itself.
  package struct Options: Sendable {
    /// How long it runs.
    package var duration: Duration?
    /// How many connections it takes; it ends when the last one of them is over.
    package var connections: Int?
    /// The most bytes that are read at once, 512 to 131,072.
    package var pieceSize = 131_072
    /// The folder of the certificate authority that vouches for it to clients; nil where they speak without TLS.
    package var authorityFolder: String?
    /// What it does on purpose to what passes.
    package var faults = ProxyFaults()

    /// Creates options with which it runs until it is stopped.
    package init() {}
  }

  private let loop: Mutex<ProxyLoop?>
  private let waker: Waker
  private let isStopped: Atomic<Bool>

  /// Prepares a proxy.
  /// - Parameters:
  ///   - place: Where it listens.
  ///   - upstream: The server.
  ///   - options: What it does besides.
  /// - Throws: ``DataClientError`` when the system is out of file descriptors.
  package init(
    _ place: ProxyPlace, to upstream: ProxyUpstream,
    options: Options = Options()
  ) throws(DataClientError) {
    waker = try Waker()
    isStopped = Atomic(false)
    loop = Mutex(ProxyLoop(place.listeners, upstream, options, waker))
  }

  /// Passes on until a limit is met, the tap is full or the task is cancelled; once.
  /// - Parameter makeTap: Makes the tap, on the proxy's thread.
  /// - Throws: What the tap throws, `CancellationError` when the task was cancelled, and ``DataClientError`` when the
  ///   system gives no thread, or connections can't be taken any more.
  package func run(_ makeTap: @escaping @Sendable () throws -> any ProxyTap) async throws {
    let loop = loop.withLock { $0.take() }
    guard let loop else { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        do {
          try WorkerThread { [self] in
            continuation.resume(
              with: Result { try loop.run(makeTap()) { isStopped.load(ordering: .acquiring) } })
          }.detach()
        } catch {
          continuation.resume(throwing: error)
        }
      }
      try Task.checkCancellation()
    } onCancel: {
      isStopped.store(true, ordering: .releasing)
      waker.wake()
    }
  }
}
