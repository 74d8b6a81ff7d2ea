import Testing

@testable import DeviceSDK

@Suite struct BroadcastTests {
  @Test(arguments: [1, 3, 4, 7])
  func keepsTheNewestInOrder(limit: Int) async {
    let broadcast = Broadcast<Int>()
    let sequence = broadcast.listen(limit: limit)
    for number in 1...7 { broadcast.send(number) }
    broadcast.finish()
    #expect(await sequence.all() == Array((8 - limit)...7))
    #expect(broadcast.dropped == UInt64(7 - limit))
  }

  @Test func sendsWhatIsAccepted() async {
    let broadcast = Broadcast<Int>()
    let (even, all) = (broadcast.listen(limit: 9) { $0 % 2 == 0 }, broadcast.listen(limit: 9))
    for number in 1...4 { broadcast.send(number) }
    broadcast.finish()
    #expect(await even.all() == [2, 4])
    #expect(await all.all() == [1, 2, 3, 4])
    #expect(await broadcast.listen(limit: 9).all().isEmpty)
  }

  @Test func keepsWhatNobodyHeardForTheFirstWhoListens() async {
    let broadcast = Broadcast<Int>(keepingEarly: 9) { $0 }
    for number in 1...4 { broadcast.send(number) }
    let (first, second) = (broadcast.listen(limit: 9) { $0 != 3 }, broadcast.listen(limit: 9))
    broadcast.send(5)
    broadcast.finish()
    // 1 is dropped: all four together are 10.
    #expect(await first.all() == [2, 4, 5])
    #expect(await second.all() == [5])
  }

  @Test func keepsNothingThatWasHeard() async {
    let broadcast = Broadcast<Int>(keepingEarly: 100) { $0 }
    broadcast.send(1)
    broadcast.send(2, isHeard: true)
    broadcast.finish()
    #expect(await broadcast.listen(limit: 9).all().isEmpty)
  }

  @Test func keepsTheNewestHoweverManyThereAre() async {
    let broadcast = Broadcast<Int>(keepingEarly: 3) { _ in 1 }
    for number in 1...1_000 { broadcast.send(number) }
    broadcast.finish()
    #expect(await broadcast.listen(limit: 9).all() == [998, 999, 1_000])
  }

  @Test func forgetsWhoDoesNotListenAnyMore() {
    let broadcast = Broadcast<Int>()
    do {
      let sequence = broadcast.listen(limit: 1)
      let iterator = sequence.makeAsyncIterator()
      #expect(broadcast.count == 1)
      _ = (sequence, iterator)
    }
    #expect(broadcast.count == 0)
  }

  @Test func wakesAReaderThatSleeps() async {
    let broadcast = Broadcast<Int>()
    let sequence = broadcast.listen(limit: 100)
    await withTaskGroup(of: [Int].self) { group in
      group.addTask { await sequence.all() }
      for number in 0..<50 {
        broadcast.send(number)
        for _ in 0..<(number % 9) { await Task.yield() }
      }
      broadcast.finish()
      #expect(await group.next() == Array(0..<50))
    }
  }

  @Test func keepsForTheNextLoopWhatTheLastOneLeft() async {
    let broadcast = Broadcast<Int>()
    let sequence = broadcast.listen(limit: 4)
    for number in 1...4 { broadcast.send(number) }
    for await number in sequence where number == 2 { break }
    broadcast.send(5)
    broadcast.send(6)
    broadcast.send(7)
    broadcast.finish()
    #expect(await sequence.all() == [4, 5, 6, 7])
    #expect(broadcast.dropped == 1)
  }

  @Test func endsWhenTheReaderIsCancelled() async {
    let broadcast = Broadcast<Int>()
    let sequence = broadcast.listen(limit: 1)
    await withTaskGroup(of: [Int].self) { group in
      group.addTask { await sequence.all() }
      for _ in 0..<20 { await Task.yield() }
      group.cancelAll()
      #expect(await group.next() == [])
    }
  }
}

extension BroadcastSequence {
  /// All elements until the end.
  fileprivate func all() async -> [Element] { await reduce(into: []) { $0.append($1) } }
}
