public import RepriseCore
import Synchronization

/// The messages on the topics that match a filter, as `for try await` reads them.
///
/// The first message that is waited for subscribes, and who leaves the loop takes the subscription back, unless others
/// want the same. It ends when the session does, or the task is cancelled; it throws when the server does not grant the
/// filter, or there is no connection any more.
public struct MQTTMessages: AsyncSequence, Sendable {
  private let reading: @Sendable () -> MQTTReading

  init(_ reading: @escaping @Sendable () -> MQTTReading) { self.reading = reading }

  /// Returns what reads the messages.
  public func makeAsyncIterator() -> Iterator { Iterator(reading: reading()) }

  /// Reads the messages.
  public struct Iterator: AsyncIteratorProtocol {
    let reading: MQTTReading

    /// Returns the next message; nil when there are no more, or the task is cancelled.
    /// - Throws: ``MQTTError``: `invalid` when the filter is none, `refused` when the server does not grant it.
    public mutating func next() async throws(MQTTError) -> Message? { try await reading.next() }
  }
}

/// A subscription of one reader, from its first message on.
final class MQTTReading: Sendable {
  private struct State {
    var holder: MQTTStateMachine.Holder?
    var mailbox: Mailbox<Message>?
    /// What was taken, and how much of it was read.
    var batch: [Message] = []
    var position = 0

    mutating func take() -> Message? {
      guard position < batch.count else { return nil }
      defer { position += 1 }
      return batch[position]
    }
  }

  private let driver: Driver<MQTTStateMachine>
  private let hub: MQTTHub
  private let name: String
  private let wish: MQTTStateMachine.Wish
  private let limit: Int
  private let state = Mutex(State())

  init(
    _ driver: Driver<MQTTStateMachine>, _ hub: MQTTHub, filter name: String,
    _ wish: MQTTStateMachine.Wish, limit: Int
  ) {
    self.driver = driver
    self.hub = hub
    self.name = name
    self.wish = wish
    self.limit = limit
  }

  deinit {
    guard let holder = leave() else { return }
    driver.submit(.release(name, holder)) { _ in }
  }

  /// Subscribes, and returns when the server has granted it.
  func open() async throws {
    let filter = try MQTTTopic.filter(name)
    let (holder, mailbox) = hub.listen(to: name, filter, limit: limit)
    do {
      _ = try await driver.call(.hold(name, wish, holder))
    } catch {
      hub.leave(holder)
      throw error
    }
    state.withLock { ($0.holder, $0.mailbox) = (holder, mailbox) }
  }

  /// Subscribes no longer.
  func close() async {
    guard let holder = leave() else { return }
    _ = try? await driver.call(.release(name, holder), isCleanup: true)
  }

  private func leave() -> MQTTStateMachine.Holder? {
    let holder = state.withLock { state in
      state.mailbox = nil
      return state.holder.take()
    }
    if let holder { hub.leave(holder) }
    return holder
  }

  func next() async throws(MQTTError) -> Message? {
    if let message = state.withLock({ $0.take() }) { return message }
    do {
      if state.withLock({ $0.holder }) == nil { try await open() }
    } catch let error as MQTTError where !hub.isOver {
      throw error
    } catch let error as DataClientError where !hub.isOver {
      throw MQTTError(error)
    } catch {
      // The reader waits no longer, or the session was closed meanwhile.
      return nil
    }
    return try await wait()
  }

  private func wait() async throws(MQTTError) -> Message? {
    let (holder, mailbox, read) = state.withLock { state in
      defer { (state.batch, state.position) = ([], 0) }
      return (state.holder, state.mailbox, state.batch.count)
    }
    guard let holder, let mailbox else { return nil }
    if read > 0 { hub.noteTaken(read, by: holder) }
    guard let batch = await mailbox.next() else {
      if !Task.isCancelled, let error = hub.error(of: holder) { throw error }
      return nil
    }
    return state.withLock { state in
      state.batch = batch
      return state.take()
    }
  }
}
