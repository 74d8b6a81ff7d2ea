import Glibc
import LiveClient
import RepriseCore

/// Tells the user on standard error how a recording goes.
final class RecordingStatus: Sendable {
  private let broker: BrokerOptions
  private let file: RecordingFile
  private let name: String
  private let console: Console
  private let duration: Duration?
  private let start = Monotonic.seconds
  private let line: StatusLine

  /// Prepares to tell.
  /// - Parameters:
  ///   - broker: What is connected to.
  ///   - file: What is recorded to.
  ///   - name: What the user calls it.
  ///   - duration: How long is recorded, if that is known.
  ///   - console: How to tell.
  init(
    _ broker: BrokerOptions, _ file: RecordingFile, named name: String, duration: Duration?,
    _ console: Console
  ) {
    self.broker = broker
    self.file = file
    self.name = name == "-" ? "standard output" : name
    self.duration = duration
    self.console = console
    line = StatusLine(console)
  }

  /// Whether somebody looks at a line that changes.
  var isShown: Bool { line.isShown }

  /// Tells what a recorder says; the file begins with the first connection.
  /// - Throws: ``OutputError`` when the file can't be created.
  func take(_ notice: RecorderNotice) throws {
    switch notice {
    case .connected: try file.open()
    case .listening: note(broker.url.description, "connected, recording to \(name)")
    case .subscribed(let lowered):
      note(broker.url.description, "connected and subscribed, recording to \(name)")
      for subscription in lowered {
        note(
          broker.url.description,
          "grants \(subscription.filter) at QoS \(subscription.qos.rawValue) only")
      }
    case .lost(let reason, let delay):
      note(
        broker.url.description,
        "\(Advice.reason(reason)); connecting again in \(delay.components.seconds) s")
    case .progress(let messages): draw(messages)
    }
  }

  /// Tells what was recorded.
  func summarise(messages: Int) {
    clear()
    let files = file.files
    guard let last = files.last else { return }
    let place = files.count == 1 ? last : "\(files.count) files up to \(last)"
    note(
      place,
      "\(StatusLine.count(messages, "message")), \(StatusLine.size(file.bytes)), "
        + "\(Int(Monotonic.seconds - start)) s")
  }

  private func note(_ place: String, _ text: String) {
    clear()
    console.note(place, text)
  }

  // MARK: The line that changes

  private func draw(_ messages: Int) {
    guard line.isShown else { return }
    let seconds = Monotonic.seconds - start
    var text = "\(name): \(StatusLine.count(messages, "message")), \(StatusLine.size(file.bytes)), "
    text += "\(Int(Double(messages) / max(seconds, 1))) a second"
    text += ", \(StatusLine.time(since: start, of: duration))"
    line.draw(text)
  }

  /// Takes the line away, before anything else is shown.
  func clear() { line.clear() }
}

/// The clock that nobody sets.
enum Monotonic {
  /// Seconds since some moment.
  static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
