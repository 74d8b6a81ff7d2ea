import Driver

/// The cases of a run, and which of them are run here: all, or those of a part.
struct DriveShare {
  /// What is run where all is, in its order.
  let all: [CasePlan]
  /// Which part is run; nil where all is.
  let shard: Shard?

  /// What is run here.
  var own: [CasePlan] { all.filter(takes) }

  /// Reads which part is run.
  /// - Parameters:
  ///   - all: What is run where all is.
  ///   - arguments: What was typed.
  /// - Throws: ``UsageError`` for what is no part.
  init(of all: [CasePlan], _ arguments: Arguments) throws(UsageError) {
    self.all = all
    shard = try Shard(arguments)
  }

  /// Whether a case is run here: one whose bytes are cut is beside the same whose bytes are not, with which it is compared.
  func takes(_ plan: CasePlan) -> Bool {
    shard?.takes("\(plan.driven.kind.rawValue)/\(plan.wholeName)") ?? true
  }

  /// Puts the results of a run together, with their places in a run of all.
  /// - Parameters:
  ///   - asked: What came of asking the subject what it can do, which each part does and one reports on.
  ///   - possible: What is run where all is, of what the subject speaks; nil where it speaks all.
  ///   - results: What came of those of them that are run here.
  ///   - isWhole: Whether all of those were run.
  /// - Returns: The results.
  func results(
    _ asked: [CaseResult], of possible: [CasePlan]? = nil, _ results: [CaseResult], isWhole: Bool
  ) -> DriveResults {
    let run = asked.map(\.plan) + (possible ?? all)
    let numbers = Dictionary(run.enumerated().map { ($1.name, $0 + 1) }) { first, _ in first }
    let numbered = (asked.filter { takes($0.plan) } + results).compactMap { result in
      numbers[result.plan.name].map { (number: $0, result: result) }
    }
    return DriveResults(
      numbered: numbered, count: run.count, planned: own.count, isWhole: isWhole)
  }
}

/// What came of the cases that were run here.
struct DriveResults {
  /// The results, with the places of their cases in a run of all, from 1.
  let numbered: [(number: Int, result: CaseResult)]
  /// How many cases a run of all has.
  let count: Int
  /// How many cases were to be run here, besides asking the subject what it can do.
  let planned: Int
  /// Whether all was run that was to be run here.
  let isWhole: Bool
}
