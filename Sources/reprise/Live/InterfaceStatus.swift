import Capture
import RepriseCore

/// Tells the user on standard error what an interface brings.
final class InterfaceStatus: InterfaceTap {
  /// How often the line is drawn, in nanoseconds.
  private static let pace: Int64 = 500_000_000

  private let capture: InterfaceCapture
  private let file: RecordingFile?
  private let name: String
  private let duration: Duration?
  private let console: Console
  private let line: StatusLine
  private let start = Monotonic.seconds
  private var frames = 0
  private var bytes = 0
  private var framesDrawn = 0
  private var lastDraw: Timestamp?

  /// Prepares to tell.
  /// - Parameters:
  ///   - capture: What is captured.
  ///   - file: What is recorded to, if anything is.
  ///   - name: What the user calls that.
  ///   - duration: How long it is captured, if that is known.
  ///   - console: How to tell.
  init(
    _ capture: InterfaceCapture, to file: RecordingFile?, named name: String,
    duration: Duration?, _ console: Console
  ) {
    self.capture = capture
    self.file = file
    self.name = name
    self.duration = duration
    self.console = console
    line = StatusLine(console)
  }

  func take(_ frame: borrowing Frame, at time: Timestamp) {
    frames += 1
    bytes += frame.bytes.byteCount
  }

  var isFull: Bool { false }

  func settle(_ time: Timestamp) -> Timestamp? {
    guard line.isShown else { return nil }
    let past = lastDraw.map { time.nanoseconds(since: $0) } ?? Self.pace
    if past >= Self.pace {
      let rate = Double(frames - framesDrawn) / (Double(past) / 1e9)
      line.draw(
        "\(name): \(summary), \(Int(rate)) a second, \(capture.counts().dropped) dropped, "
          + StatusLine.time(since: start, of: duration))
      framesDrawn = frames
      lastDraw = time
    }
    return lastDraw.map { Timestamp(nanoseconds: $0.nanoseconds &+ Self.pace) }
  }

  private var summary: String {
    "\(StatusLine.count(frames, "frame")), \(StatusLine.size(bytes))"
  }

  func finish(_ time: Timestamp) {
    line.clear()
    let dropped = capture.counts().dropped
    let text = "\(summary), \(dropped) dropped, \(Int(Monotonic.seconds - start)) s"
    if let files = file?.files, let last = files.last {
      console.note(files.count == 1 ? name : "\(files.count) files up to \(last)", text)
    }
    Self.tellDrops(of: capture, console)
  }

  /// Tells that frames are missing, if any are, and what to do about it.
  static func tellDrops(of capture: InterfaceCapture, _ console: Console) {
    let dropped = capture.counts().dropped
    guard dropped > 0 else { return }
    console.note(
      capture.name,
      "\(StatusLine.count(Int(clamping: dropped), "frame")) came faster than they were taken and are "
        + "missing; give a larger --buffer, or by --bpf a filter that matches fewer")
  }
}
