import Capture
import Proxy
import RepriseCore

/// Tells the user on standard error what goes on in a proxy.
final class ProxyStatus: ProxyTap {
  private let name: String
  private let file: RecordingFile
  private let duration: Duration?
  private let console: Console
  private let line: StatusLine
  private let start: Double
  private var connections = 0
  private var open = 0
  private var bytes = 0
  private var nextDraw: Timestamp?
  /// What was told last of a server that is not reached; nil since it was.
  private var trouble: String?

  /// How often the line is drawn, in nanoseconds.
  private static let pace: Int64 = 500_000_000

  init(
    _ file: RecordingFile, named name: String, duration: Duration?, _ console: Console
  ) {
    self.file = file
    self.name = name
    self.duration = duration
    self.console = console
    line = StatusLine(console)
    start = Monotonic.seconds
  }

  func opened(_ client: ProxyClient, at time: Timestamp) {
    connections += 1
    open += 1
  }

  func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {
    guard case .failed(let why) = outcome else { return }
    // Clients try again and again; the user is told once.
    guard trouble != why else { return }
    trouble = why
    line.clear()
    console.error("\(why); the client is reset")
  }

  func passed(_ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp) {
    self.bytes += bytes.byteCount
    // What answers is there.
    if sender == .server { trouble = nil }
  }

  func altered(_ connection: Int, of senders: [Peer], _ comment: String) {}
  func ended(_ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp) {}

  func closed(_ connection: Int, at time: Timestamp) { open -= 1 }

  var isFull: Bool { false }

  func settle(_ time: Timestamp) -> Timestamp? {
    guard line.isShown else { return nil }
    if let nextDraw, time < nextDraw { return nextDraw }
    draw()
    let next = Timestamp(nanoseconds: time.nanoseconds &+ Self.pace)
    nextDraw = next
    return next
  }

  private func draw() {
    let time = StatusLine.time(since: start, of: duration)
    line.draw("\(name): \(summary), \(open) open, \(time)")
  }

  private var summary: String {
    "\(StatusLine.count(connections, "connection")), \(StatusLine.size(bytes)) passed"
  }

  func finish(_ time: Timestamp) {
    line.clear()
    let files = file.files
    guard let last = files.last else { return }
    let place = files.count == 1 ? name : "\(files.count) files up to \(last)"
    console.note(
      place,
      "\(summary), \(StatusLine.size(file.bytes)) written, \(Int(Monotonic.seconds - start)) s")
  }
}
