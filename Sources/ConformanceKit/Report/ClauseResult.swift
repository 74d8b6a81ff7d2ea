/// What is said of a clause in the end.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
  /// It was kept, and nowhere violated.
  case passed
  /// It was violated.
  case failed
  /// It was violated, and a baseline accepts all that was found.
  case accepted
  /// It is a SHOULD or a MAY, and was not followed; a strict run calls that failed.
  case notFollowed = "not-followed"
  /// What there was to judge it by does not decide.
  case inconclusive
  /// It can't be judged by this input or by this suite.
  case notApplicable = "not-applicable"
  /// Nothing happened that it speaks of.
  case notExercised = "not-exercised"
}

/// The verdict on one clause, and what it rests on.
public struct ClauseResult: Sendable, Hashable {
  /// The clause.
  public let clause: Clause
  /// The verdict.
  public internal(set) var verdict: Verdict
  /// Why the verdict is no better known; nil when it says everything.
  public internal(set) var reason: String?
  /// How often the clause was kept.
  public let satisfied: Int
  /// How often it was violated.
  public let violated: Int
  /// How often the input did not decide.
  public let undecided: Int
  /// The violations, up to the limit.
  public internal(set) var findings: [Finding]
  /// Where the input did not decide, up to the limit.
  public internal(set) var places: [UndecidedPlace]
  /// How many violations there are of which no finding is listed, nor another one of their kind.
  package let unlisted: Int
  /// How often the input did not decide, by reason, the most frequent first; empty where scenarios were run.
  let reasons: [UndecidedCount]

  /// Whether there was anything to judge it by.
  public var isExercised: Bool {
    switch verdict {
    case .passed, .failed, .accepted, .notFollowed, .inconclusive: true
    case .notApplicable, .notExercised: false
    }
  }

  init(_ clause: Clause, _ counts: RuleCounts?, _ seen: SeenProtocols, isStrict: Bool) {
    self.clause = clause
    satisfied = counts?.satisfied ?? 0
    violated = counts?.violated ?? 0
    undecided = counts?.reasons.reduce(0) { $0 + $1.count } ?? 0
    findings = counts?.findings ?? []
    places = counts?.places ?? []
    unlisted = counts?.unlisted ?? 0
    reasons = counts?.reasons ?? []
    (verdict, reason) = Self.judge(clause, counts, seen, isStrict: isStrict)
  }

  /// Judges a clause of the SDK by what came of the scenarios that are bound to it.
  init(
    _ clause: Clause, satisfied: Int, findings: [Finding], places: [UndecidedPlace],
    isStrict: Bool
  ) {
    self.clause = clause
    self.satisfied = satisfied
    violated = findings.count
    undecided = places.count
    unlisted = 0
    reasons = []
    self.findings = findings
    self.places = places
    switch (clause.status, findings.first) {
    case (.driven, nil):
      (verdict, reason) = Self.judge(satisfied: satisfied, places: places)
    case (.driven, let first?):
      guard clause.level != .must, !isStrict else {
        (verdict, reason) = (.failed, nil)
        break
      }
      let place = first.scenario.map { " (\($0))" } ?? ""
      (verdict, reason) = (
        .notFollowed,
        "a \(clause.level.rawValue) is not followed\(place); --strict makes it a failure"
      )
    case (.checked, _), (.reactive, _), (.tested, _), (.planned, _), (.active, _),
      (.unobservable, _):
      (verdict, reason) = (.notApplicable, Self.whyUnchecked(clause))
    }
  }

  /// Judges a clause that no scenario found broken.
  private static func judge(
    satisfied: Int, places: [UndecidedPlace]
  ) -> (Verdict, String?) {
    guard let place = places.first else { return (satisfied > 0 ? .passed : .notExercised, nil) }
    guard satisfied > 0 else { return (.inconclusive, place.reason) }
    return (
      .passed, "\(places.count) of \(places.count + satisfied) undecided: \(place.reason)"
    )
  }

  private static func judge(
    _ clause: Clause, _ counts: RuleCounts?, _ seen: SeenProtocols, isStrict: Bool
  ) -> (Verdict, String?) {
    guard let counts else { return (.notApplicable, whyUnchecked(clause)) }
    if counts.violated > 0 {
      if clause.level == .must || isStrict { return (.failed, nil) }
      return (
        .notFollowed, "a \(clause.level.rawValue) is not followed; --strict makes it a failure"
      )
    }
    let reasons = counts.reasons.map { "\($0.reason.text) (\($0.count)×)" }
    let text = reasons.prefix(3).joined(separator: "; ")
    if counts.satisfied > 0 {
      let undecided = counts.reasons.reduce(0) { $0 + $1.count }
      guard undecided > 0 else { return (.passed, nil) }
      return (.passed, "\(undecided) of \(undecided + counts.satisfied) undecided: \(text)")
    }
    if let first = counts.reasons.first {
      return (.inconclusive, reasons.count == 1 ? first.reason.text : text)
    }
    if let missing = seen.missing(for: clause.spec) {
      return (.notApplicable, "no \(missing) in the input; there is \(seen.description)")
    }
    return (.notExercised, nil)
  }

  private static func whyUnchecked(_ clause: Clause) -> String {
    switch clause.status {
    case .checked, .reactive: "it has no rule"
    case .driven: "a scenario has to be run, see reprise conform sdk"
    case .tested: "a unit test of the SDK has it, and no scenario"
    case .planned where clause.scope == .connection || clause.scope == .frame:
      "there is no rule yet"
    case .planned: "there is no rule yet: it takes the traffic of a whole \(clause.scope.rawValue)"
    case .active: "a driver has to provoke it"
    case .unobservable: "nothing on the wire can tell"
    }
  }
}

/// How often a reason was given.
struct UndecidedCount: Sendable, Hashable {
  var reason: UndecidedReason
  var count: Int
}

extension [UndecidedCount] {
  /// The reasons that were given at all, the most frequent first.
  init(counting count: (UndecidedReason) -> Int) {
    self = UndecidedReason.allCases.map { UndecidedCount(reason: $0, count: count($0)) }
      .filter { $0.count > 0 }
      .sorted { ($1.count, $0.reason.rawValue) < ($0.count, $1.reason.rawValue) }
  }
}

/// What was reported for one rule.
struct RuleCounts {
  var satisfied: Int
  var violated: Int
  var reasons: [UndecidedCount]
  var findings: [Finding]
  var places: [UndecidedPlace]
  /// How many violations are of a kind that no finding is listed of.
  var unlisted: Int
}

extension Tally {
  subscript(rule: RuleIndex) -> RuleCounts {
    RuleCounts(
      satisfied: satisfied[rule.value], violated: violated[rule.value], reasons: reasons(of: rule),
      findings: findings[rule.value], places: places[rule.value],
      unlisted: kinds?.unlisted[rule.value]
        ?? max(0, violated[rule.value] - findings[rule.value].count))
  }
}
