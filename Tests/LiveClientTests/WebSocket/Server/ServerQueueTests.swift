import RepriseCore
import Testing

@testable import LiveClient

/// The queues between tasks and the thread of a server.
@Suite struct ServerQueueTests {
  @Test func sendingWaitsForRoom() async throws {
    let news = Counter()
    let outbox = ServerOutbox(limit: 100) { news.add() }
    try await outbox.add(.binary(Array(repeating: 1, count: 200)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 { group.addTask { try await outbox.add(.text("\(number)")) } }
      // Only what is taken makes room: until then the others wait, however long that is.
      var weights: [Int] = []
      for count in 1...4 {
        try await news.reaches(count)
        if let item = outbox.take() { weights.append(item.weight) }
      }
      #expect(weights == [216, 17, 17, 17])
      try await group.waitForAll()
    }
  }

  @Test func acceptsNothingWhileThereIsNoRoom() async throws {
    let outbox = ServerOutbox(limit: 10) {}
    try await outbox.add(.text("first"))
    let waiting = Task { try await outbox.add(.text("second")) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    guard case .text("first") = outbox.take() else {
      Issue.record("not the first")
      return
    }
    #expect(outbox.take() == nil)
  }

  @Test func closingRefusesWhoeverWaits() async throws {
    let outbox = ServerOutbox(limit: 10) {}
    try await outbox.add(.text("first"))
    let waiting = Task { try await outbox.add(.text("second")) }
    #expect(outbox.close(code: 1000, reason: "") && !outbox.close(code: 1001, reason: ""))
    await #expect(throws: DataClientError.self) { try await waiting.value }
    await #expect(throws: DataClientError.self) { try await outbox.add(.text("third")) }
    outbox.end()
    #expect(outbox.take() == nil)
  }

  @Test func receivingTellsOfRoomOnceHalfOfItIsFree() async {
    let news = Counter()
    let inbox = ThreadMailbox<Int>(limit: 4) { news.add() }
    for number in 0..<4 { inbox.append(number) }
    #expect(!inbox.takeRoom())
    #expect(await inbox.next() == 0 && news.count == 0)
    #expect(await inbox.next() == 1 && news.count == 1)
    #expect(inbox.takeRoom())
    inbox.finish()
    #expect(await inbox.next() == 2)
    #expect(await inbox.next() == 3)
    #expect(await inbox.next() == nil)
  }

  @Test func receivingEndsWithTheTask() async {
    let inbox = ThreadMailbox<Int>(limit: 1)
    let waiting = Task { await inbox.next() }
    waiting.cancel()
    #expect(await waiting.value == nil)
    // What comes later is not lost to a reader that is gone.
    inbox.append(1)
    #expect(await inbox.next() == 1)
  }

  @Test func outputIsTakenFromTheFront() {
    var output = OutputBuffer()
    output.append([1, 2, 3])
    #expect(output.take(2) { $0.count } == 2)
    output.append([4])
    var rest: [UInt8] = []
    #expect(
      output.take(10) {
        rest += $0; return $0.count
      } == 2)
    #expect(rest == [3, 4] && output.count == 0 && output.taken == 4 && output.added == 4)
    output.append([5])
    #expect(output.take(10) { _ in -1 } == -1)
    #expect(output.count == 1)
  }

  @Test func outputThatIsNeverAllTakenKeepsLittle() {
    var output = OutputBuffer()
    let piece = [UInt8](repeating: 1, count: 100_000)
    output.append(piece)
    for _ in 0..<1_000 {
      output.append(piece)
      _ = output.take(piece.count) { $0.count }
    }
    #expect(output.count == 100_000 && output.taken == 100_000_000)
    #expect(output.capacity < 8 << 20)
  }
}
