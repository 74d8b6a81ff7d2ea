internal import DataClient

/// Where rules report: flat counters, and the findings up to a limit.
///
/// A report of a rule costs an addition to an array; text is made for listed findings only.
struct Tally {
  /// Whether the connection of the current event is judged.
  enum Mode {
    case judged
    /// Its version of MQTT is only inferred.
    case inferred
    /// A client retold its messages; handshake and frames are made up for the recording.
    case retold

    /// Why nothing on the connection is decided, if nothing is.
    var doubt: UndecidedReason? {
      switch self {
      case .judged: nil
      case .inferred: .inferredVersion
      case .retold: .retold
      }
    }
  }

  var mode = Mode.judged
  /// The file of the current event.
  var file = ""
  private(set) var satisfied: [Int]
  private(set) var violated: [Int]
  /// By rule, and within it by reason.
  private(set) var undecided: [Int]
  private(set) var findings: [[Finding]]
  private let maximumFindings: Int
  private static let reasons = UndecidedReason.allCases.count

  init(ruleCount: Int, maximumFindings: Int) {
    satisfied = Array(repeating: 0, count: ruleCount)
    violated = satisfied
    undecided = Array(repeating: 0, count: ruleCount * Self.reasons)
    findings = Array(repeating: [], count: ruleCount)
    self.maximumFindings = maximumFindings
  }

  /// Reports that a clause was kept.
  @inline(__always)
  mutating func satisfy(_ rule: RuleIndex, times count: Int = 1) {
    if let doubt = mode.doubt { return leave(rule, doubt, times: count) }
    satisfied[rule.value] += count
  }

  /// Reports that the capture does not decide.
  @inline(__always)
  mutating func leave(_ rule: RuleIndex, _ reason: UndecidedReason, times count: Int = 1) {
    // Every other reason comes second to that.
    let reason = mode.doubt ?? reason
    undecided[rule.value * Self.reasons + reason.rawValue] += count
  }

  /// Reports a violation.
  mutating func violate(
    _ rule: RuleIndex, _ event: borrowing EventView, _ text: @autoclosure () -> FindingText
  ) {
    if let doubt = mode.doubt { return leave(rule, doubt) }
    violated[rule.value] += 1
    guard findings[rule.value].count < maximumFindings else { return }
    let text = text()
    let context = event.context
    var packet: [UInt8] = []
    EventJSONWriter(file: file).append(event, to: &packet)
    findings[rule.value].append(
      Finding(
        file: file, frame: context.frame, connection: context.connection, time: context.time,
        message: text.message, packet: packet, expected: text.expected, actual: text.actual))
  }

  /// Returns how often a rule was undecided, by reason, the most frequent first.
  func reasons(of rule: RuleIndex) -> [(reason: UndecidedReason, count: Int)] {
    UndecidedReason.allCases
      .map { ($0, undecided[rule.value * Self.reasons + $0.rawValue]) }
      .filter { $0.1 > 0 }
      .sorted { $0.1 > $1.1 }
  }
}

/// The place of a rule in the flat counters.
struct RuleIndex: Hashable {
  let value: Int
}
