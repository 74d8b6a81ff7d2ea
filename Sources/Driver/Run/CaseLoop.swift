import Glibc
import LiveClient
import RepriseCore

/// Runs cases, many at a time, on the thread that calls it.
struct CaseLoop<World: CaseWorld> {
  /// How many cases are run at a time.
  private let most: Int
  /// How long it waits at most before it looks whether it is to end, in milliseconds.
  private let pace: Int32 = 100

  private let clock = LiveClock()
  private let pause: Duration
  private var running: [CaseRun<World>] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var files: [pollfd] = []

  /// Prepares to run cases.
  /// - Parameters:
  ///   - most: How many cases are run at a time.
  ///   - pause: How long to wait between the beginnings of two cases.
  init(most: Int = 32, pause: Duration = .zero) { (self.most, self.pause) = (most, pause) }

  /// Runs cases.
  /// - Parameters:
  ///   - count: How many there are.
  ///   - make: Makes one of them.
  ///   - isStopped: Whether to break off.
  ///   - take: Takes one that is over, with its recording.
  mutating func run(
    _ count: Int, _ make: (Int, Timestamp) -> CaseRun<World>, isStopped: () -> Bool,
    _ take: (CaseRun<World>, [UInt8]) -> Void
  ) {
    var next = 0
    var nextTime = clock.now
    while next < count || !running.isEmpty {
      if isStopped() {
        for run in running { run.breakOff(clock.now) }
        next = count
      }
      while next < count, running.count < most, nextTime <= clock.now {
        let run = make(next, clock.now)
        next += 1
        nextTime = clock.now.advanced(by: pause)
        run.advance(clock.now)
        running.append(run)
      }
      for run in running where run.isOver { take(run, run.recorder.finish(clock.now)) }
      running.removeAll(where: \.isOver)
      if !running.isEmpty || next < count { turn(next < count ? nextTime : nil) }
    }
  }

  /// Waits until something can be done, and does it.
  private mutating func turn(_ next: Timestamp?) {
    files.removeAll(keepingCapacity: true)
    var counts: [Int] = []
    for run in running {
      let interests = run.interests
      counts.append(interests.count)
      files += interests
    }
    let isFull = running.count >= most
    let deadlines = running.map(\.deadline) + (isFull ? [] : [next].compactMap(\.self))
    let wait = deadlines.min().map { clock.milliseconds(until: $0) } ?? pace
    _ = poll(&files, nfds_t(files.count), min(wait, pace))
    var place = 0
    for (run, count) in zip(running, counts) {
      // Each by its own time: those before it may have had much to do.
      run.service(files[place..<min(files.count, place + count)], &buffer, clock.now)
      place += count
    }
  }
}
