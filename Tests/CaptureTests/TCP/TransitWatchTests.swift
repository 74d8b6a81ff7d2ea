import Testing

@testable import Capture

/// What the acknowledgements and windows of one end say of how soon it has what the other one sends.
@Suite struct TransitWatchTests {
  private enum Step {
    /// Something is sent that ends there, so many milliseconds from the start, and whether that shows that it was late.
    case send(UInt32, Int64, Bool = false)
    /// The receiver speaks: what it expects, the window, when, and whether that shows that something was late.
    case hear(UInt32, UInt16, Int64, Bool)
  }

  private static let cases: [(String, [Step])] = [
    ("in time", [.send(10, 0), .hear(10, 9, 1_000, false), .hear(10, 9, 99_000, false)]),
    ("acknowledged by what comes next", [.send(10, 0), .hear(10, 9, 60_000, false)]),
    ("never", [.send(10, 0), .hear(9, 9, 500, false), .hear(9, 9, 1_001, true)]),
    ("sent again", [.send(10, 0), .send(10, 1_000), .send(10, 1_001, true)]),
    ("sent again behind what came later", [.send(10, 0), .send(20, 900), .send(10, 1_200, true)]),
    ("captured twice", [.send(10, 0), .hear(10, 9, 10, false), .send(10, 9_000)]),
    ("more is sent", [.send(10, 0), .send(20, 9_000), .hear(20, 9, 9_001, false)]),
    (
      "the second of two",
      [.send(10, 0), .send(20, 100), .hear(10, 9, 200, false), .hear(10, 9, 1_101, true)]
    ),
    (
      "all of two at once",
      [.send(10, 0), .send(20, 900), .hear(20, 9, 1_000, false), .hear(10, 9, 9_000, false)]
    ),
    ("nothing was sent", [.hear(10, 9, 0, false), .hear(10, 9, 9_000, false)]),
    ("a shut window", [.hear(10, 0, 0, false), .hear(10, 0, 1_001, true)]),
    ("a window that opens late", [.hear(10, 0, 0, false), .hear(10, 9, 1_001, true)]),
    ("a window that opens", [.hear(10, 0, 0, false), .hear(10, 9, 1_000, false)]),
    (
      "round the end of the numbers",
      [
        .send(.max - 1, 0), .send(5, 100), .hear(.max - 1, 9, 200, false),
        .hear(.max - 1, 9, 1_101, true), .hear(5, 9, 9_000, false),
      ]
    ),
  ]

  /// An acknowledgement that carries nothing and comes 5 s late shows a clock that was set forward, or segments that are
  /// missing, unless what it acknowledges was sent again.
  @Test(arguments: [
    (true, 5_000 as Int64, nil as Int64?, false), (true, 5_001, nil, true),
    (false, 60_000, nil, false),
    (true, 60_000, 900, false), (true, 60_000, 60_000, true),
  ])
  func tellsALateAcknowledgement(isEmpty: Bool, time: Int64, again: Int64?, isLate: Bool) {
    for start in [0, UInt32.max - 5] {
      var watch = TransitWatch()
      _ = watch.send(to: start &+ 10, at: 0)
      if let again, again < time { _ = watch.send(to: start &+ 10, at: again * 1_000_000) }
      let news = watch.hear(start &+ 10, window: 9, isEmpty: isEmpty, at: time * 1_000_000)
      #expect(news == isLate)
      // What is sent next has a time of its own.
      _ = watch.send(to: start &+ 20, at: time * 1_000_000)
      let next = watch.hear(start &+ 20, window: 9, isEmpty: true, at: (time + 5_000) * 1_000_000)
      #expect(!next)
    }
  }

  /// An acknowledgement of what was just sent may be the first that was captured, whatever it acknowledges besides.
  @Test(arguments: [(5_000 as Int64, false), (5_001, true)])
  func takesAnAcknowledgementForThatOfTheLast(time: Int64, isLate: Bool) {
    var watch = TransitWatch()
    _ = watch.send(to: 10, at: 0)
    _ = watch.send(to: 20, isEnd: true, at: 60_000_000_000)
    let news = watch.hear(20, window: 9, isEmpty: true, at: 60_000_000_000 + time * 1_000_000)
    #expect(news == isLate)
  }

  /// What was sent before something that was captured shows an earlier clock, also where that goes round.
  @Test(
    arguments: [
      (1, false, false), (0, false, true), (-1, true, true), (-131_072, true, true),
      (-131_073, false, false),
    ] as [(Int32, Bool, Bool)])
  func tellsWhatWasSentBefore(ticks: Int32, isBehind: Bool, orWithIt: Bool) {
    for clock in [1_000, 500_000] as [UInt32] {
      var watch = TransitWatch()
      let value = clock &+ UInt32(bitPattern: ticks)
      #expect(!watch.isBehind(value) && !watch.isBehind(value, orWithIt: true))
      _ = watch.read(clock, at: 0)
      #expect(watch.isBehind(value) == isBehind)
      #expect(watch.isBehind(value, orWithIt: true) == orWithIt)
    }
  }

  /// A clock has a length of ticks that is in use; what is not looked at is a short pause, and a clock that goes back.
  @Test(
    arguments: [
      (10, 2_000, false), (10, 2_001, true), (10, 3_600_000, true), (250, 5_001, true),
      (5_001, 5_001, false), (.max, 60_000, false), (1 << 31, 60_000, false), (737, 5_737, true),
      (1_434, 5_737, false), (573, 5_737, false), (5_737_000, 5_737, false), (9_499, 10_000, false),
      (9_498, 10_000, true),
    ] as [(UInt32, Int64, Bool)])
  func tellsAClockThatWasSet(ticks: UInt32, pause: Int64, isSet: Bool) {
    for start in [0, UInt32.max - 3] {
      var watch = TransitWatch()
      let first = watch.read(start, at: 1_000_000)
      let second = watch.read(start &+ ticks, at: (pause + 1) * 1_000_000)
      let third = watch.read(start &+ ticks &+ 10, at: (pause + 11) * 1_000_000)
      #expect([first, second, third] == [false, isSet, false])
    }
  }

  /// Behind a second of a clock that ticks at least 50 times in it, far shorter steps show; a tick is in milliseconds.
  @Test(
    arguments: [
      (1, 15_029, 55_000, true), (1, 15_000, 19_750, false), (1, 15_000, 19_751, true),
      (1, 200, 2_000, false), (1, 200, 2_001, true), (4, 5_000, 26_000, false),
      (4, 5_000, 26_001, true), (20, 100, 3_500, false), (20, 100, 3_501, true),
      (25, 10, 2_000, false), (25, 10, 2_001, true),
    ] as [(UInt32, UInt32, Int64, Bool)])
  func knowsTheTick(tick: UInt32, ticks: UInt32, pause: Int64, isSet: Bool) {
    for start in [0, UInt32.max - 300] {
      var watch = TransitWatch()
      let second = start &+ 1_000 / tick
      let news = [
        watch.read(start, at: 7), watch.read(second, at: 1_000_000_007),
        watch.read(second &+ ticks, at: 1_000_000_007 + pause * 1_000_000),
      ]
      #expect(news == [false, false, isSet])
    }
  }

  /// An end that does not acknowledge the other end may have been sent at any time since its sender was last heard.
  @Test(arguments: [(11 as UInt32, 5_000 as Int64, false), (10, 1_001, false), (10, 1_002, true)])
  func tellsEndsThatCross(number: UInt32, time: Int64, isLate: Bool) {
    var watch = TransitWatch()
    _ = watch.send(to: 10, at: 0)
    let before = watch.hear(10, window: 9, at: 1_000_000)
    _ = watch.send(to: 11, isEnd: true, at: 1_000_500_000)
    let end = watch.hear(number, window: 9, isEnd: true, at: time * 1_000_000)
    #expect([before, end] == [false, isLate])
  }

  /// A segment that carries nothing shows what was sent before it: what is seen long after that has filled a hole.
  @Test(arguments: [
    (12 as UInt32, 1_000 as Int64, false), (12, 1_001, true), (10, 5_000, false),
    (14, 1_001, false),
  ])
  func tellsWhatFillsAHole(begin: UInt32, time: Int64, isLate: Bool) {
    for start in [0, UInt32.max - 5] {
      var watch = TransitWatch()
      _ = watch.send(to: start &+ 10, at: 0)
      let before = watch.hear(start &+ 10, window: 9, at: 0)
      watch.begin(at: start &+ begin, at: 0)
      let news = watch.send(to: start &+ (begin == 14 ? 16 : 12), at: time * 1_000_000)
      #expect([before, news] == [false, isLate])
    }
  }

  /// Where nothing was seen for long in front of a hole, what fills it may have been sent at any time of that, however
  /// soon it comes.
  @Test(arguments: [(1_000 as Int64, false), (1_001, true)])
  func tellsWhatFillsAHoleBehindASilence(silence: Int64, isLate: Bool) {
    var watch = TransitWatch()
    _ = watch.send(to: 10, at: 0)
    _ = watch.hear(10, window: 9, at: 0)
    watch.begin(at: 12, at: silence * 1_000_000)
    let fill = watch.send(to: 12, at: (silence + 5) * 1_000_000)
    let next = watch.send(to: 14, at: (silence + 6) * 1_000_000)
    // Once it is filled, the same once more is only that.
    let again = watch.send(to: 12, at: (silence + 7) * 1_000_000)
    #expect([fill, next, again] == [isLate, false, false])
  }

  @Test(arguments: cases.map(\.0)) func tellsWhatIsLate(name: String) throws {
    let steps = try #require(Self.cases.first { $0.0 == name }).1
    var watch = TransitWatch()
    for step in steps {
      switch step {
      case .send(let end, let time, let isLate):
        let told = watch.send(to: end, at: time * 1_000_000)
        #expect(told == isLate, "\(time)")
      case .hear(let number, let window, let time, let isLate):
        let told = watch.hear(number, window: window, at: time * 1_000_000)
        #expect(told == isLate, "\(time)")
      }
    }
  }
}
