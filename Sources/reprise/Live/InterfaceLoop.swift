import Capture
import Glibc
import LiveClient
import RepriseCore

/// Sees what an interface brings.
protocol InterfaceTap: AnyObject {
  /// Takes a frame, which is valid during the call only.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: The time, which the frame's may be behind.
  func take(_ frame: borrowing Frame, at time: Timestamp)
  /// All that was there has been taken, so there is time for other work.
  /// - Parameter time: The time.
  /// - Returns: When it wants to be asked again, at the latest; nil when that may wait for frames.
  /// - Throws: What makes it pointless to go on, such as a full disk.
  func settle(_ time: Timestamp) throws -> Timestamp?
  /// Whether it wants no more, so that the capture may end.
  var isFull: Bool { get }
  /// Told before the end where frames came faster than they were taken, and are missing.
  func noteDrops()
  /// The capture ends.
  /// - Throws: What kept it from keeping what it saw.
  func finish(_ time: Timestamp) throws
}

extension InterfaceTap {
  /// Does nothing: who does not judge has no use for it.
  func noteDrops() {}
}

/// Captures an interface until it is to end.
struct InterfaceLoop {
  /// How many frames are taken before other work has its turn.
  private static let mostAtOnce = 4_096
  /// How often the system is asked for its numbers, in nanoseconds.
  private static let pace: Int64 = 1_000_000_000

  private let capture: InterfaceCapture
  private let taps: [any InterfaceTap]
  private let duration: Duration?
  private let count: Int
  private let clock = LiveClock()

  /// Prepares to capture.
  /// - Parameters:
  ///   - capture: The interface.
  ///   - taps: What sees it, in this order.
  ///   - duration: How long it is captured; nil is until a signal comes.
  ///   - count: How many frames are captured; nil is without a limit.
  init(
    _ capture: InterfaceCapture, _ taps: [any InterfaceTap], duration: Duration?, count: Int?
  ) {
    self.capture = capture
    self.taps = taps
    self.duration = duration
    self.count = count ?? .max
  }

  /// Captures, until a limit is met, a tap is full, or a signal comes.
  /// - Throws: ``Interrupted`` after a signal, ``CaptureError`` when the interface is gone, and what the taps throw.
  func run() throws {
    let signal = try Interruption.descriptor()
    do {
      try captureToEnd(signal)
      try drain()
    } catch let error as CaptureError {
      // What was captured before stays.
      try finish()
      throw error
    }
    try finish()
    try Interruption.check()
  }

  private var isOver: Bool { capture.framesRead >= count || taps.contains(where: \.isFull) }

  private func captureToEnd(_ signal: Int32) throws {
    let end = duration.map { clock.now.advanced(by: $0) }
    var nextLook = clock.now
    while !isOver, Interruption.status == nil {
      let now = clock.now
      if let end, end <= now { return }
      if nextLook <= now {
        _ = capture.counts()
        try capture.check()
        nextLook = Timestamp(nanoseconds: now.nanoseconds &+ Self.pace)
      }
      let wish = try settle(now)
      let wait = min(earlier(wish, end) ?? nextLook, nextLook)
      guard isReady(signal, milliseconds: clock.milliseconds(until: wait)) else { continue }
      try read { _ in true }
    }
  }

  /// Takes what came before the end and was not handed on yet: the system gathers frames for a moment.
  private func drain() throws {
    // Frames have the time of the day, whatever was made of that since the beginning.
    let end = LiveClock().now
    let patience = Duration.milliseconds(4 * Int(InterfaceCapture.latency))
    let limit = clock.now.advanced(by: patience)
    var isBeyond = false
    while !isBeyond, !isOver, clock.now < limit {
      guard isReady(-1, milliseconds: 2 * InterfaceCapture.latency) else { return }
      try read { frame in
        if let time = frame.time, time > end { isBeyond = true }
        return !isBeyond
      }
      _ = try settle(clock.now)
    }
  }

  /// Takes the frames that are there and that are wanted.
  private func read(_ isWanted: (borrowing Frame) -> Bool) throws(CaptureError) {
    let now = clock.now
    _ = try capture.read(min(Self.mostAtOnce, count - capture.framesRead)) { frame in
      guard isWanted(frame) else { return }
      for tap in taps { tap.take(frame, at: now) }
    }
  }

  /// Waits until frames may be there; false when they are not.
  private func isReady(_ signal: Int32, milliseconds: Int32) -> Bool {
    // `poll` leaves out what is less than nothing.
    var files = [capture.descriptor ?? -1, signal].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let wait =
      capture.descriptor == nil ? min(milliseconds, InterfaceCapture.latency) : milliseconds
    guard poll(&files, nfds_t(files.count), wait) >= 0 else { return false }
    return capture.descriptor == nil || files[0].revents != 0
  }

  private func settle(_ time: Timestamp) throws -> Timestamp? {
    var wish: Timestamp?
    for tap in taps { wish = earlier(wish, try tap.settle(time)) }
    return wish
  }

  private func finish() throws {
    let hasDrops = capture.counts().dropped > 0
    for tap in taps {
      if hasDrops { tap.noteDrops() }
      try tap.finish(clock.now)
    }
  }
}
