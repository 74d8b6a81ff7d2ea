import RepriseCore

/// When what waits for something besides the capture is looked after, where that comes through a pipe.
///
/// Time is that of the frames, and goes on by itself while none comes.
final class PipePace {
  /// How often is looked, in nanoseconds.
  static let step: Int64 = 50_000_000
  /// The same, for the system.
  static let milliseconds: Int32 = 50

  /// Looks, at a time, and returns whether anything waits on; also while the pipe has nothing.
  var look: ((Timestamp) -> Bool)?
  private var now = Timestamp(nanoseconds: 0)
  private var looked = Timestamp(nanoseconds: 0)

  /// Takes the time of the next frame, before that is handed on.
  func pass(to time: Timestamp?) {
    guard let time, time > now else { return }
    now = time
    guard now.nanoseconds(since: looked) >= Self.step else { return }
    looked = now
    _ = look?(now)
  }

  /// Looks before the pipe is read.
  /// - Returns: Whether to look again if the pipe has nothing meanwhile.
  func waits() -> Bool { look?(now) ?? false }

  /// Lets time go by in which the pipe had nothing.
  func passIdly() { now = Timestamp(nanoseconds: now.nanoseconds &+ Self.step) }
}
