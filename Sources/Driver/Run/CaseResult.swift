/// What came of a case with one row of its values, in one version.
package struct CaseResult: Sendable {
  /// How it ended.
  package enum Outcome: Sendable, Hashable {
    /// All steps were done.
    case done
    /// Its time was over before.
    case late
    /// It could not be gone on with; the text says why.
    case stopped(String)
    /// The broker can't do what it takes; the text says which, and how that is known.
    case notApplicable(String)
  }

  /// What was run.
  package let plan: CasePlan
  /// How it ended.
  package let outcome: Outcome
  /// What was said, as pcapng; empty where it was not run.
  package let recording: [UInt8]
  /// Whether it was begun.
  package var isRun: Bool { !recording.isEmpty }

  /// How long the driver did not look at what came, at most: the recording has later times of that than it came at.
  package let heldUp: Duration
  /// Whether that was for so long that clauses may be judged otherwise by it: some tell times of a second apart.
  package var isHeldUp: Bool { heldUp > .seconds(1) }

  init(
    _ plan: CasePlan, _ outcome: Outcome, _ recording: [UInt8] = [], heldUp: Duration = .zero
  ) {
    (self.plan, self.outcome, self.recording) = (plan, outcome, recording)
    self.heldUp = heldUp
  }
}
