import Synchronization

/// Calls the application's listeners: at once, or on the main actor behind what waits there already.
final class ListenerCalls: Sendable {
  private let log: SystemLog
  private let mainCalls = Mutex(MainCalls())
  /// Has an element when there may be calls.
  private let news: AsyncStream<Void>
  private let newsToTell: AsyncStream<Void>.Continuation

  /// Creates a queue without calls.
  /// - Parameter log: The log that hears of listeners that have gone.
  init(log: SystemLog = .none) {
    self.log = log
    (news, newsToTell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// How many calls with messages were dropped, as the main actor was busy.
  var dropped: UInt64 { mainCalls.withLock(\.dropped) }

  /// Tells listeners something, in the order in which they were added.
  /// - Parameters:
  ///   - listeners: The listeners.
  ///   - news: What they are told.
  ///   - isMessage: Whether that is a message, the oldest of which a main actor that is busy for long
  ///     misses.
  ///   - call: Tells it; a function that captures nothing costs nothing with each message.
  /// - Returns: Whether there are any.
  @discardableResult
  func tell<Listener: Sendable, News: Sendable>(
    _ listeners: WeakListeners<Listener>, _ news: News, isMessage: Bool = false,
    _ call: @escaping @Sendable (Listener, News) -> Void
  ) -> Bool {
    let entries = listeners.entries
    var gone = 0
    // By their places: a copy of an entry costs more than the call.
    for place in entries.indices {
      guard let listener = entries[place].listener() else {
        gone += 1
        continue
      }
      guard entries[place].onMain else {
        call(listener, news)
        continue
      }
      let id = entries[place].id
      append(isMessage: isMessage) {
        if let listener = listeners.listener(id) { call(listener, news) }
      }
    }
    if gone > 0 { forget(gone, of: listeners) }
    return gone < entries.count
  }

  /// Tells of listeners that went without being removed: perhaps their owner did not mean to let them go.
  private func forget<Listener>(_ count: Int, of listeners: WeakListeners<Listener>) {
    listeners.forgetGone()
    log(.debug, .listener, "\(count) listeners no longer exist")
  }

  /// Has something done on the main actor, behind what is waiting for it already.
  func doOnMain(_ work: @escaping MainCalls.Work) { append(isMessage: false, work) }

  private func append(isMessage: Bool, _ work: @escaping MainCalls.Work) {
    mainCalls.withLock { $0.append(work, isMessage: isMessage) }
    newsToTell.yield()
  }

  /// Does on the main actor what is to be done there, until the end.
  func runMainWork() async {
    for await _ in news {
      while !Task.isCancelled, let work = mainCalls.withLock({ $0.popFirst() }) {
        await MainActor.run(body: work)
      }
    }
  }

  /// Ends the work on the main actor behind what waits there.
  func finish() { newsToTell.finish() }
}
