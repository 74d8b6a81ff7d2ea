import Synchronization
import Testing

@testable import DeviceSDK

/// What waits for a main actor that is busy.
@Suite struct ListenerCallsTests {
  private final class Listener: Sendable {
    private let numbers = Mutex<[Int]>([])
    var told: [Int] { numbers.withLock { $0 } }
    func tell(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  /// Tells some messages, with news that are none before, among and behind them, while nobody is there.
  private func told(messages: Int) async -> (numbers: [Int], dropped: UInt64) {
    let (calls, listener) = (ListenerCalls(), Listener())
    let listeners = WeakListeners<Listener>()
    listeners.add(listener, onMain: true) { [weak listener] in listener }
    calls.tell(listeners, -1) { $0.tell($1) }
    for number in 0..<messages {
      calls.tell(listeners, number, isMessage: true) { $0.tell($1) }
      if number == 2 { calls.doOnMain { listener.tell(-2) } }
    }
    calls.tell(listeners, -3) { $0.tell($1) }
    calls.finish()
    await calls.runMainWork()
    return (listener.told, calls.dropped)
  }

  @Test(arguments: [0, 1, 4, 200, MainCalls.limit])
  func keepsEverythingUpToTheLimit(_ count: Int) async {
    let expected =
      [-1] + [0, 1, 2].prefix(count) + (count > 2 ? [-2] : []) + (3..<max(3, count)) + [-3]
    let (numbers, dropped) = await told(messages: count)
    #expect(numbers == expected)
    #expect(dropped == 0)
  }

  @Test(arguments: [1, 2, 3, 4, 5_000, 2 * MainCalls.limit])
  func dropsTheOldestMessagesBeyondTheLimit(_ excess: Int) async {
    let count = MainCalls.limit + excess
    let (numbers, dropped) = await told(messages: count)
    #expect(numbers.filter { $0 >= 0 } == Array(excess..<count))
    // What is no message comes all the same, in its place.
    #expect(numbers.first == -1 && numbers.last == -3)
    #expect(numbers.firstIndex(of: -2) == max(0, 3 - excess) + 1)
    #expect(dropped == UInt64(excess))
  }
}
