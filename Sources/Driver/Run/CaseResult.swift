import RepriseCore

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
  /// The bytes of MQTT that were sent, for those who run it dry; empty otherwise.
  package var isRun: Bool { !recording.isEmpty }

  init(_ plan: CasePlan, _ outcome: Outcome, _ recording: [UInt8] = []) {
    (self.plan, self.outcome, self.recording) = (plan, outcome, recording)
  }
}
