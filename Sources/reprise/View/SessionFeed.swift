import Capture
import ConformanceKit
import RepriseCore
import SessionView
import Synchronization

/// A session that is read and judged on a thread of its own, while it is looked at.
final class SessionFeed: ViewedSource, Sendable {
  private struct State {
    var session: ViewedSession
    /// Why it could not be read on.
    var failure: String?
    /// What is to be told of it when the terminal is given back.
    var notes: [String] = []
    var isOver = false
  }

  private let settings: SessionSettings
  private let state: Mutex<State>
  private let wantsEnd = Atomic(false)

  /// Creates a feed of which nothing was read.
  init(_ settings: SessionSettings) {
    self.settings = settings
    var session = settings.session
    session.isReading = true
    state = Mutex(State(session: session))
  }

  /// Whether nothing more comes.
  var isOver: Bool { state.withLock { $0.isOver } }
  /// Whether there is something to show, or will never be.
  var isReady: Bool { state.withLock { $0.isOver || $0.session.archive.count > 0 } }
  /// Why it could not be read; nil if it could.
  var failure: String? { state.withLock { $0.failure } }
  /// What is to be told of the file.
  var notes: [String] { state.withLock { $0.notes } }

  func withModel<Result: Sendable>(_ use: (ViewedSession) -> Result) -> Result {
    state.withLock { use($0.session) }
  }

  /// Reads on another thread.
  /// - Parameter read: Hands the events on; it returns what is to be told of them, and throws why there are no more.
  /// - Throws: `DataClientError` when the system gives no thread.
  func start(_ read: @escaping @Sendable (inout Taker) throws -> [String]) throws {
    let thread = try WorkerThread { [self] in
      do {
        var taker = Taker(feed: self, judge: try settings.judge())
        taker.judge.begin(file: settings.file)
        let result = Result { try read(&taker) }
        let report = taker.judge.report(toolVersion: Reprise.version)
        state.withLock { state in
          let found = report.findings(in: state.session.archive, hiding: settings.redaction)
          state.session.setFindings(found)
          state.session.untoldFindings = report.untold
        }
        finish(result)
      } catch {
        finish(.failure(error))
      }
    }
    // It may wait for what never comes; the end of the process is its end.
    thread.detach()
  }

  /// Lets the reading end, if it has not.
  func stop() { wantsEnd.store(true, ordering: .relaxed) }

  private func finish(_ result: Result<[String], any Error>) {
    state.withLock { state in
      state.session.isReading = false
      state.isOver = true
      switch result {
      case .success(let notes): state.notes = notes
      case .failure(let error):
        let reason = (error as? CaptureError)?.reason ?? (error as? RecordingError)?.reason
        state.failure = error is Stopped ? nil : reason ?? "\(error)"
      }
      state.notes += state.session.cutNotes
    }
  }

  /// The session is looked at no longer.
  private struct Stopped: Error {}

  /// What hands the events of the file to the feed.
  struct Taker: SessionConsumer {
    fileprivate let feed: SessionFeed
    fileprivate var judge: ConformanceJudge
    /// How many violations the judge kept no finding of, as the feed has it.
    fileprivate var untold = 0

    mutating func beginFile(_ name: String) {}

    mutating func consume(_ event: borrowing EventView) throws {
      if feed.wantsEnd.load(ordering: .relaxed) { throw Stopped() }
      feed.state.withLock { state in _ = state.session.archive.append(event) }
      judge.consume(event)
      let news = judge.takeNews()
      let untold = judge.untoldFindings
      guard !news.isEmpty || untold > self.untold else { return }
      self.untold = untold
      let redaction = feed.settings.redaction
      feed.state.withLock { state in
        state.session.untoldFindings = untold
        let archive = state.session.archive
        state.session.add(
          news.map { SessionFinding($0.clause, $0.finding, in: archive, hiding: redaction) })
      }
    }

    mutating func endFile() {}
  }
}
