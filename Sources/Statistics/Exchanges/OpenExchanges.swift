import RepriseCore

/// By what an answer names its question, on one connection.
struct ExchangeKey: Hashable {
  let kind: ExchangeKind
  let asker: Peer
  /// A packet identifier, a number in sequence, or a hash of what names the question.
  let id: UInt64

  func hash(into hasher: inout Hasher) {
    hasher.combine(id &* 64 &+ UInt64(kind.rawValue) &* 2 &+ (asker == .client ? 0 : 1))
  }
}

/// The questions of one connection that have no answer so far.
///
/// An answer that may be that to another question decides nothing, and neither does one behind bytes that are missing:
/// what was open then is given up as undecided.
struct OpenExchanges {
  private struct Question {
    let time: Timestamp
    let frame: Int
    let isSelected: Bool
    /// Whether no answer has to come, so that without one nobody was asked.
    let isOptional: Bool
    /// Whether another question was asked by the same name.
    var isAmbiguous: Bool
    let serial: Int
  }

  typealias Sink = (ExchangeOutcome) -> Void

  private var questions: [ExchangeKey: Question] = [:]
  /// Whether the capture does not tell of an event what came first: an answer may have passed unseen.
  private(set) var isUncertain = false
  /// Whether bytes of an end are missing behind its last message.
  private var isBlind = BothPeers(false)

  /// How many questions are open.
  var count: Int { questions.count }

  /// Takes the news of a question.
  /// - Parameters:
  ///   - key: By what its answer will name it.
  ///   - context: Where and when it is asked.
  ///   - isSelected: Whether it is one of those that were selected.
  ///   - isOptional: Whether no answer has to come.
  ///   - isRepeat: Whether it may be sent again: the time counts from the first.
  ///   - serial: A number that no other question has.
  ///   - sink: What takes what became of a question.
  /// - Returns: Whether it is open now and was not before.
  mutating func ask(
    _ key: ExchangeKey, _ context: EventContext, isSelected: Bool, isOptional: Bool = false,
    isRepeat: Bool = false, serial: Int, _ sink: Sink
  ) -> Bool {
    var isAmbiguous = context.isOrderUncertain
    if let old = questions[key] {
      if isRepeat { return false }
      finish(key, old, .undecided, sink)
      isAmbiguous = true
    }
    questions[key] = Question(
      time: context.time, frame: context.frame, isSelected: isSelected, isOptional: isOptional,
      isAmbiguous: isAmbiguous, serial: serial)
    return true
  }

  /// Takes the news of an answer; one without a question is none.
  /// - Returns: Whether there was a question.
  @discardableResult
  mutating func answer(
    _ key: ExchangeKey, _ context: EventContext, _ sink: Sink
  ) -> Bool {
    guard !questions.isEmpty, let question = questions.removeValue(forKey: key) else {
      return false
    }
    let delay = context.time.nanoseconds(since: question.time)
    let isDecided = !question.isAmbiguous && !context.isOrderUncertain && delay >= 0
    finish(
      key, question, isDecided ? .answered(Int(delay), frame: context.frame) : .undecided, sink,
      isAnswered: true)
    return true
  }

  /// Tells whether a question is open.
  func isOpen(_ key: ExchangeKey, serial: Int) -> Bool { questions[key]?.serial == serial }

  /// Gives a question up.
  mutating func giveUp(
    _ key: ExchangeKey, as result: ExchangeOutcome.Result = .undecided, _ sink: Sink
  ) {
    guard let question = questions.removeValue(forKey: key) else { return }
    finish(key, question, result, sink)
  }

  /// Takes the news that an end sent something that can be read.
  mutating func noteMessage(_ context: EventContext) {
    if context.isOrderUncertain { isUncertain = true }
    isBlind[context.sender] = false
  }

  /// Takes the news that bytes of an end are missing or can't be read.
  mutating func noteLoss(of sender: Peer, _ sink: Sink) {
    isBlind[sender] = true
    end(.undecided, sink)
  }

  /// Takes the news of the end of the connection.
  mutating func close(isEndOfCapture: Bool, _ sink: Sink) {
    end(isEndOfCapture ? .stillOpen : .unanswered, sink)
  }

  /// Gives all questions up.
  mutating func giveUpAll(_ sink: Sink) { end(.undecided, sink) }

  private mutating func end(_ result: ExchangeOutcome.Result, _ sink: Sink) {
    guard !questions.isEmpty else { return }
    // In the order in which they were asked, whatever that of the table is.
    for (key, question) in questions.sorted(by: { $0.value.serial < $1.value.serial }) {
      let isTold = !isUncertain && !isBlind[key.asker.other] && !question.isAmbiguous
      finish(key, question, isTold ? result : .undecided, sink)
    }
    questions = [:]
  }

  private func finish(
    _ key: ExchangeKey, _ question: Question, _ result: ExchangeOutcome.Result, _ sink: Sink,
    isAnswered: Bool = false
  ) {
    guard isAnswered || !question.isOptional else { return }
    sink(
      ExchangeOutcome(
        kind: key.kind, asker: key.asker, time: question.time, frame: question.frame,
        isSelected: question.isSelected, result: result))
  }
}
