import RepriseCore

/// Whether the other side of a connection lives: it is asked after a while of silence, and must answer.
///
/// The time for the answer begins when the question was written, which takes long behind a large
/// message.
struct SilenceWatch {
  private enum State {
    case listening(since: Timestamp)
    /// The question is written when so many bytes are.
    case asking(mark: Int, since: Timestamp)
    case waiting(since: Timestamp)
  }

  private let interval: Duration
  private let answerTime: Duration
  private var state: State

  /// Creates a watch.
  /// - Parameters:
  ///   - interval: How long the other side may be silent before it is asked.
  ///   - answerTime: How long it may take to answer.
  ///   - now: The time.
  init(interval: Duration, answerTime: Duration, at now: Timestamp) {
    self.interval = interval
    self.answerTime = answerTime
    state = .listening(since: now)
  }

  /// Whether it was asked and has not answered.
  var isAsked: Bool {
    switch state {
    case .listening: false
    case .asking, .waiting: true
    }
  }

  /// When it is to be asked, or has not answered in time.
  var deadline: Timestamp {
    switch state {
    case .listening(let since): since.advanced(by: interval)
    case .asking(_, let since), .waiting(let since): since.advanced(by: answerTime)
    }
  }

  /// Anything at all came from the other side.
  mutating func heard(at now: Timestamp) { state = .listening(since: now) }

  /// The question is the last of so many bytes.
  mutating func asked(_ mark: Int, at now: Timestamp) { state = .asking(mark: mark, since: now) }

  /// So many bytes are written in all.
  mutating func wrote(_ count: Int, at now: Timestamp) {
    guard case .asking(let mark, _) = state else { return }
    // Bytes that are taken show that somebody takes them.
    state = count >= mark ? .waiting(since: now) : .asking(mark: mark, since: now)
  }
}
