import Capture
import Dispatch
import Glibc
import RepriseCore
import Synchronization

/// A line on standard error that shows how far a long work has come, if someone is looking.
///
/// It appears after a second. A thread of its own draws it, so that what works is not kept waiting.
final class Progress: Sendable {
  private let drawing: Drawing
  private let thread: Mutex<WorkerThread?>

  /// Shows how far reading files has come.
  /// - Parameters:
  ///   - files: The files.
  ///   - passes: How often each is read.
  ///   - isWanted: Whether it appears at all; it never does where no terminal is there.
  ///   - console: Whether the user wants to see it.
  init(of files: [String], passes: Int = 1, isWanted: Bool = true, _ console: Console) {
    let drawing = Drawing(StatusLine(console), of: files, passes)
    self.drawing = drawing
    // Without a thread there is no line, and nothing else is missing.
    thread = Mutex(
      isWanted && drawing.line.isShown ? try? WorkerThread { drawing.run() } : nil)
  }

  /// What counts the bytes that are read.
  var bytes: ReadCount { drawing.bytes }

  /// Names the file that is read from now on.
  func begin(_ file: String) { drawing.state.withLock { $0.file = file } }

  /// Takes the news of events that were read.
  func add(events: Int) { drawing.events.add(events, ordering: .relaxed) }

  /// Tells something in place of the line, which stays away until the next file begins.
  func tell(_ body: () -> Void) {
    drawing.state.withLock { $0.file = nil }
    drawing.line.clear()
    body()
  }

  /// Takes the line away, as the work is over; a second time does nothing.
  func end() {
    guard let thread = thread.withLock({ $0.take() }) else { return }
    drawing.ends.signal()
    thread.join()
    drawing.line.clear()
  }
}

/// What the thread that draws knows.
private final class Drawing: Sendable {
  struct State {
    /// The file that is being read; nil while something else is told.
    var file: String?
  }

  let bytes = ReadCount()
  let events = Atomic<Int>(0)
  let line: StatusLine
  let state = Mutex(State())
  let ends = DispatchSemaphore(value: 0)
  /// The bytes that there are to read; nil where nobody knows.
  private let total: Int?
  private let start = Monotonic.seconds

  init(_ line: StatusLine, of files: [String], _ passes: Int) {
    self.line = line
    total = line.isShown ? Self.size(of: files, passes) : nil
  }

  /// What regular files have together, each as often as it is read, in bytes; nil where one is none, and where they
  /// call themselves larger than any number, as files with holes may.
  private static func size(of files: [String], _ passes: Int) -> Int? {
    var sum = 0
    for file in files {
      var status = stat()
      guard file != "-", stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        return nil
      }
      let (next, isTooLarge) = sum.addingReportingOverflow(Int(clamping: status.st_size))
      guard !isTooLarge else { return nil }
      sum = next
    }
    let (all, isTooLarge) = sum.multipliedReportingOverflow(by: passes)
    return isTooLarge ? nil : all
  }

  func run() {
    var wait = DispatchTimeInterval.seconds(1)
    while ends.wait(timeout: .now() + wait) == .timedOut {
      wait = .milliseconds(250)
      state.withLock { state in
        if let file = state.file { line.draw("\(file): \(text)") }
      }
    }
  }

  /// How far it is, as in `1.5 MiB of 3.0 MiB, 24000 events, 12000 a second, 2 s left`.
  private var text: String {
    let seconds = Monotonic.seconds - start
    let read = bytes.bytes
    let events = events.load(ordering: .relaxed)
    let rate = Int(Double(events) / seconds)
    var size = StatusLine.size(read)
    var time = "\(Int(seconds)) s"
    if let total, read > 0, read <= total {
      size += " of \(StatusLine.size(total))"
      time = "\(Int((seconds * Double(total - read) / Double(read)).rounded(.up))) s left"
    }
    // Where frames are copied nobody counts events.
    return events == 0
      ? "\(size), \(time)" : "\(size), \(events) events, \(rate) a second, \(time)"
  }
}
