/// Which of the actions that may come next is meant.
extension ReplayMachine {
  /// How many actions that may come are compared for one that fits better than the first that fits.
  private static let rivals = 64
  /// How many actions are looked at for one that fits, or fits better.
  private static let candidates = 1_024
  /// How much later than the first that fits an action may be that fits better, in nanoseconds.
  ///
  /// Calls that are made at once are closer. Where more time lies between two actions, the application may have waited
  /// for the first one's, and identifiers that it gives anew are those of another action by chance.
  private static let together: Int64 = 100_000_000

  /// Finds the action of the session that is performed: the first that fits of those that may come now; of several
  /// that were made at once, the one that is most like it.
  /// - Returns: The action with its comparison; nil when none fits.
  mutating func choose(
    _ action: ClientAction, _ first: ReplayOutlook.Action
  ) throws(DataClientError) -> (ReplayOutlook.Action, ReplayComparison)? {
    var best: (action: ReplayOutlook.Action, comparison: ReplayComparison)?
    if let comparison = compare(first, action, isBrief: true), comparison.differences.isEmpty {
      // Nearly always nothing else may come, or it is just this.
      guard comparison.changes > 0, options.order == .causal else { return (first, comparison) }
      best = (first, comparison)
    }
    guard options.order == .causal else { return best }
    var (index, looked, rivals) = (first.ordinal + 1, 0, 0)
    var earliest = best?.action
    while looked < Self.candidates, best == nil || rivals < Self.rivals,
      let other = try rival(from: index, of: first)
    {
      index = other.ordinal + 1
      if let earliest, !Self.isTogether(earliest, other) { break }
      looked += 1
      guard stream.outlook.mayCome(other) else { continue }
      rivals += 1
      guard let comparison = compare(other, action, isBrief: true), comparison.differences.isEmpty,
        comparison.changes < best?.comparison.changes ?? .max
      else { continue }
      best = (other, comparison)
      earliest = earliest ?? other
      if comparison.changes == 0 { break }
    }
    if let best { return best }
    return try chooseCall(action, first)
  }

  private static func isTogether(
    _ action: ReplayOutlook.Action, _ later: ReplayOutlook.Action
  ) -> Bool {
    later.event.context.time.nanoseconds(since: action.event.context.time) <= together
  }

  private mutating func rival(
    from index: Int, of first: ReplayOutlook.Action
  ) throws(DataClientError) -> ReplayOutlook.Action? {
    do {
      return try stream.action(from: index, insteadOf: first)
    } catch { throw fail(error) }
  }

  mutating func compare(
    _ expected: ReplayOutlook.Action, _ action: ClientAction, isBrief: Bool = false
  ) -> ReplayComparison? {
    guard let recorded = stream.recorded(at: expected.ordinal) else { return nil }
    var comparison = ReplayComparison(
      options, isAfterBindings: !bindings.isEmpty, isBrief: isBrief)
    comparison.compare(recorded.kind, action.kind)
    return comparison
  }

  // MARK: Divergence

  /// Tells how an action differs from the one that is most like it of those that may come.
  mutating func otherAction(
    _ action: ClientAction, _ first: ReplayOutlook.Action
  ) throws(DataClientError) -> ReplayDivergence {
    var nearest = (action: first, comparison: compare(first, action))
    var (count, looked) = (1, 1)
    var index = first.ordinal + 1
    while options.order == .causal, looked < Self.candidates,
      let other = try rival(from: index, of: first)
    {
      index = other.ordinal + 1
      looked += 1
      guard stream.outlook.mayCome(other) else { continue }
      count += 1
      let comparison = compare(other, action)
      if Self.distance(comparison) < Self.distance(nearest.comparison) {
        nearest = (other, comparison)
      }
    }
    let expected = ReplayExpectation(
      nearest.action.event, recorded: stream.recorded(at: nearest.action.ordinal))
    let differences = nearest.comparison?.differences ?? []
    return ReplayDivergence(
      kind: .otherAction, place: expected.place, expected: expected.summary,
      actual: action.kind.summary, differences: differences, alternatives: count - 1,
      laterPlace: find(action, from: first.number + 1), remedy: inspect(expected.place),
      advice: ReplayAdvice.advice(for: differences, options))
  }

  /// How much two actions differ: another kind more than another topic, and that more than another payload.
  private static func distance(_ comparison: ReplayComparison?) -> Int {
    guard let differences = comparison?.differences else { return .max }
    return differences.reduce(0) { sum, difference in
      switch difference.place.prefix(5) {
      case "kind": sum + 1_000_000
      case "topic", "filte", "path", "path ", "metho": sum + 1_000
      default: sum + 1
      }
    }
  }

  /// Where the session has an action, looked for among the next ones.
  private func find(_ action: ClientAction, from number: Int) -> ReplayPlace? {
    var looked = 0
    var place: ReplayPlace?
    stream.scan(from: number) { number, entry in
      guard case .action = entry.role, !stream.outlook.isTaken(number) else { return true }
      looked += 1
      guard looked < 200 else { return false }
      let outlook = stream.outlook
      guard
        let recorded = RecordedAction(
          entry.event, aliases: outlook.aliases, below: outlook.requestBase)
      else { return true }
      var comparison = ReplayComparison(options)
      comparison.compare(recorded.kind, action.kind)
      guard comparison.differences.isEmpty else { return true }
      place = ReplayPlace(entry.event.context)
      return false
    }
    return place
  }
}
