import Testing

@testable import LiveClient

/// What the readers of a monitor get of changes that the test makes.
@Suite(.timeLimit(.minutes(5))) struct NetworkWatchTests {
  /// A slow reader learns that something happened and how it ended.
  @Test(
    arguments: [
      ([], [true]), ([false], [true, false]), ([false, true], [true]),
      ([false, true, false], [true, false]), ([false, true, false, true], [true]),
    ] as [([Bool], [Bool])])
  func keepsTwoChangesAtMost(_ later: [Bool], _ kept: [Bool]) {
    var unread = NetworkWatch.Unread(true)
    for change in later { unread.append(change) }
    var taken: [Bool] = []
    while let change = unread.take() { taken.append(change) }
    #expect(taken == kept)
  }

  @Test func keepsThatTheNetworkWasAway() {
    var unread = NetworkWatch.Unread(true)
    #expect(unread.take() == true && unread.take() == nil)
    for change in [false, true] { unread.append(change) }
    #expect(unread.changes == [false, true])
    for change in [false, true] { unread.append(change) }
    #expect(unread.changes == [false, true])
  }

  @Test func everyReaderGetsThePresentAndEachChangeOnce() async throws {
    let monitor = try NetworkMonitor()
    let present = monitor.isReachable
    var first = monitor.changes.makeAsyncIterator()
    #expect(await first.next() == present)
    monitor.watch.note(present)
    monitor.watch.note(!present)
    monitor.watch.note(!present)
    #expect(monitor.isReachable == !present)
    var second = monitor.changes.makeAsyncIterator()
    #expect(await second.next() == !present)
    #expect(await first.next() == !present)
    monitor.watch.note(present)
    #expect(await first.next() == present)
    monitor.stop()
    monitor.watch.note(!present)
    #expect(await first.next() == nil)
    #expect(await second.next() == present, "what came before the end")
    #expect(await second.next() == nil)
    #expect(monitor.isReachable == present)
    #expect(await monitor.changes.reduce(into: []) { $0.append($1) } == [present])
  }

  @Test func wakesAReaderThatWaits() async throws {
    let monitor = try NetworkMonitor()
    let present = monitor.isReachable
    let (seen, see) = AsyncStream<Bool>.makeStream()
    let reader = Task {
      for await isReachable in monitor.changes { see.yield(isReachable) }
      see.finish()
    }
    var changes = seen.makeAsyncIterator()
    #expect(await changes.next() == present)
    monitor.watch.note(!present)
    #expect(await changes.next() == !present)
    monitor.stop()
    #expect(await changes.next() == nil)
    await reader.value
  }

  @Test func endsWithTheTask() async throws {
    let monitor = try NetworkMonitor()
    let (seen, see) = AsyncStream<Bool>.makeStream()
    let reader = Task {
      var count = 0
      for await isReachable in monitor.changes {
        count += 1
        see.yield(isReachable)
      }
      return count
    }
    for await _ in seen { break }
    reader.cancel()
    #expect(await reader.value == 1)
    let present = monitor.isReachable
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await monitor.changes.first { _ in true }
    }
    #expect(await cancelled.value == nil)
    #expect(await monitor.changes.first { _ in true } == present, "another task reads on")
  }

  /// The sequence alone keeps the monitor alive, and lets it go: socket, pipe and thread.
  @Test func nothingIsLeft() async throws {
    weak var watch: NetworkWatch?
    weak var monitor: NetworkMonitor?
    do {
      let changes = try NetworkMonitor().changes
      watch = changes.monitor.watch
      monitor = changes.monitor
      #expect(await changes.first { _ in true } == changes.monitor.isReachable)
      #expect(monitor != nil && watch != nil)
    }
    // The thread held the other reference; that it is gone says that the thread has ended.
    #expect(monitor == nil && watch == nil)
  }
}
