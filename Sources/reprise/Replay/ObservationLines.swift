import RepriseCore
import SDKReplay
import Synchronization

/// Writes what a replayed system did, a line each.
final class ObservationLines: Sendable {
  private struct State {
    var lines: LineBuffer<OutputFile>
    var text: ObservationText
    var failure: (any Error)?
  }

  private let state: Mutex<State>
  private let json: ObservationJSON?
  private let failing: AsyncStream<Never>
  private let fail: AsyncStream<Never>.Continuation

  /// Creates a writer.
  /// - Parameters:
  ///   - output: Where the lines go.
  ///   - isJSON: Whether they are JSON; text if not.
  ///   - file: The file of the session.
  ///   - subject: Whose session it is.
  ///   - usesColor: Whether text is coloured.
  ///   - redaction: What is not shown.
  ///   - isPaced: Whether each line is to be seen at once.
  init(
    _ output: OutputFile, isJSON: Bool, file: String, subject: String, usesColor: Bool,
    redaction: RedactionRules, isPaced: Bool
  ) {
    let text = ObservationText(
      file: file, subject: subject, usesColor: usesColor, redaction: redaction)
    json = isJSON ? ObservationJSON(file: file, redaction: redaction) : nil
    let threshold = output.isTerminal || isPaced ? 0 : 1 << 16
    state = Mutex(State(lines: LineBuffer(output, threshold: threshold), text: text))
    (failing, fail) = AsyncStream.makeStream()
  }

  /// Writes what was seen; when that fails, ``failure()`` tells.
  func write<Plan: ShownPlan>(_ observation: SystemReplay<Plan>.Observation, of plan: Plan.Type) {
    write { json, text, buffer in
      if let json {
        json.append(observation, of: plan, to: &buffer)
      } else {
        text.append(observation, of: plan, to: &buffer)
      }
    }
  }

  private func write(
    _ append: (ObservationJSON?, inout ObservationText, inout [UInt8]) -> Void
  ) {
    let isDone = state.withLock { state in
      guard state.failure == nil else { return false }
      do {
        try Interruption.check()
        append(json, &state.text, &state.lines.bytes)
        try state.lines.endLine()
        return true
      } catch {
        state.failure = error
        return false
      }
    }
    if !isDone { fail.finish() }
  }

  /// Waits until something can't be written, or the task is cancelled.
  /// - Throws: Why.
  func failure() async throws {
    for await _ in failing {}
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Writes how it ended.
  /// - Throws: ``OutputError`` or ``Interrupted``.
  func write(_ outcome: any PreparedOutcome) throws {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      if let json {
        outcome.append(to: &state.lines.bytes, as: json)
      } else {
        outcome.append(to: &state.lines.bytes, as: &state.text)
      }
      try state.lines.endLine()
      try state.lines.flush()
    }
  }

  /// Writes what was seen so far.
  /// - Throws: ``OutputError``.
  func flush() throws {
    try state.withLock { try $0.lines.flush() }
  }
}
