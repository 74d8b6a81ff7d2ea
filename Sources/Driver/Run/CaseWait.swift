import RepriseCore

/// What a case waits for before its next step.
struct CaseWait {
  /// When it is given up.
  let until: Timestamp
  /// Whether it has come, or can't come any more.
  let isOver: () -> Bool
  /// What is waited for besides when it is given up: whether an answer that is due is missing shows only where the
  /// connection lives on.
  var proof: ((Timestamp) -> CaseWait?)?

  /// How long an answer that is due is waited for: after 30 s of a connection that lives, clauses take it for missing.
  static let patience: Duration = .seconds(31)
  /// How long something is waited for that need not come.
  static let shortWait: Duration = .seconds(2)

  /// Waits for something.
  init(
    until: Timestamp, proof: ((Timestamp) -> CaseWait?)? = nil, _ isOver: @escaping () -> Bool
  ) {
    (self.until, self.isOver, self.proof) = (until, isOver, proof)
  }

  /// Waits for the time alone.
  static func time(until: Timestamp) -> CaseWait { CaseWait(until: until) { false } }
}
