@preconcurrency import Dispatch
import Glibc
import RepriseCore
import Synchronization

extension Interruption {
  /// How many seconds a command has to end in good order.
  private static let orderlyGrace: UInt32 = 10

  /// Never closed: a handler may be about to write to it.
  private static let signals = Result { () throws(OutputError) in try SignalPipe() }

  /// Wakes whoever awaits a signal; allowed in a handler.
  static func tell() {
    let end = writer.load(ordering: .relaxed)
    var byte: UInt8 = 1
    if end >= 0 { _ = write(end, &byte, 1) }
  }

  /// What becomes readable when a signal has come, for what waits by `poll`; it then has time to end in good order.
  ///
  /// A second signal ends the process at once.
  /// - Returns: The descriptor; nobody reads from it.
  /// - Throws: ``OutputError`` when the system is out of descriptors.
  static func descriptor() throws(OutputError) -> Int32 { try watched().reader }

  private static func watched() throws(OutputError) -> SignalPipe {
    grace.store(orderlyGrace, ordering: .relaxed)
    let signals = try signals.get()
    writer.store(signals.writer, ordering: .relaxed)
    // A signal that came before had nobody to tell.
    if status != nil { tell() }
    return signals
  }

  /// Runs something that a signal cancels, and that then has time to end in good order.
  ///
  /// A second signal ends the process at once.
  /// - Parameter body: What runs; its task is cancelled when a signal comes.
  /// - Returns: What the body returns.
  /// - Throws: ``Interrupted`` when the body was cancelled by a signal, and what else it throws.
  static func cancel<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let signals = try watched()
    do {
      return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
          await signals.wait()
          return nil
        }
        while let result = try await group.next() {
          group.cancelAll()
          if let result { return result }
        }
        throw CancellationError()
      }
    } catch let error as CancellationError {
      guard let status else { throw error }
      throw Interrupted(status: status)
    }
  }
}

/// A pipe through which a signal handler tells a task.
private final class SignalPipe: Sendable {
  let reader: Int32
  let writer: Int32

  init() throws(OutputError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw OutputError("pipe", "can't be opened: \(systemText(errno).lowercased())")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reader, writer) = (ends[0], ends[1])
  }

  /// Waits until a signal has come, or the task is cancelled.
  func wait() async {
    let signals = AsyncStream<Void> { continuation in
      let source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: .global())
      source.setEventHandler { continuation.finish() }
      continuation.onTermination = { _ in source.cancel() }
      source.resume()
    }
    for await _ in signals {}
  }
}
