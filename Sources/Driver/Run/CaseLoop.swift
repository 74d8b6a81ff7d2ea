import Glibc
import LiveClient
import RepriseCore

/// Runs cases, many at a time, on the thread that calls it.
struct CaseLoop {
  /// How many cases are run at a time.
  static let most = 32
  /// How long it waits at most before it looks whether it is to end, in milliseconds.
  private static let pace: Int32 = 100

  private let clock = LiveClock()
  private let pause: Duration
  private var running: [CaseRun] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var files: [pollfd] = []

  /// Prepares to run cases.
  /// - Parameter pause: How long to wait between the beginnings of two cases.
  init(pause: Duration = .zero) { self.pause = pause }

  /// Runs cases.
  /// - Parameters:
  ///   - count: How many there are.
  ///   - make: Makes one of them.
  ///   - isStopped: Whether to break off.
  ///   - take: Takes one that is over, with its recording.
  mutating func run(
    _ count: Int, _ make: (Int, Timestamp) -> CaseRun, isStopped: () -> Bool,
    _ take: (CaseRun, [UInt8]) -> Void
  ) {
    var next = 0
    var nextTime = clock.now
    while next < count || !running.isEmpty {
      if isStopped() {
        for run in running { run.breakOff(clock.now) }
        next = count
      }
      while next < count, running.count < Self.most, nextTime <= clock.now {
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
    for run in running { files += run.interests }
    let isFull = running.count >= Self.most
    let deadlines = running.map(\.deadline) + (isFull ? [] : [next].compactMap(\.self))
    let wait = deadlines.min().map { clock.milliseconds(until: $0) } ?? Self.pace
    _ = poll(&files, nfds_t(files.count), min(wait, Self.pace))
    let now = clock.now
    var place = 0
    for run in running {
      let count = run.clients.count
      run.service(files[place..<min(files.count, place + count)], &buffer, now)
      place += count
    }
  }
}
