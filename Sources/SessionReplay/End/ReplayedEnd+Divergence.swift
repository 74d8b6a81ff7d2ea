import RepriseCore
import Wire

// What is said where the other end leaves the session.
extension ReplayedEnd {
  /// Something else than what may come.
  func other(
    _ unit: ReplayUnit, insteadOf step: Int, _ differences: [ReplayDifference],
    alternatives: Int
  ) -> ReplayDivergence {
    let recorded = script.steps[step]
    return ReplayDivergence(
      kind: .otherAction, place: recorded.place, expected: recorded.summary,
      actual: unit.summary, differences: differences, alternatives: alternatives,
      laterPlace: later(unit, than: step), remedy: inspection(recorded.place),
      advice: advice(unit, differences))
  }

  /// Something where the session has nothing any more.
  func surplus(_ unit: ReplayUnit) -> ReplayDivergence {
    let last = script.steps.last?.place
    return ReplayDivergence(
      kind: .extraAction, place: last, expected: nil, actual: unit.summary, differences: [],
      remedy: last.map(inspection) ?? "", advice: [anew])
  }

  /// A step of the other end that does not come.
  func missing(_ step: Int, _ why: String) -> ReplayDivergence {
    let recorded = script.steps[step]
    return ReplayDivergence(
      kind: .missingAction, place: recorded.place, expected: recorded.summary, actual: why,
      differences: [], remedy: inspection(recorded.place), advice: [anew])
  }

  /// A step of ours that the other end did not wait for.
  func unsent(_ step: Int) -> ReplayDivergence {
    let recorded = script.steps[step]
    return ReplayDivergence(
      kind: .leftOver, place: recorded.place,
      expected: "\(recorded.summary), from the \(own.rawValue)",
      actual: "the \(own.other.rawValue) ends the connection before", differences: [],
      remedy: inspection(recorded.place), advice: [anew])
  }

  /// Where the session has what came, looked for among what comes later.
  private func later(_ unit: ReplayUnit, than step: Int) -> ReplayPlace? {
    open.first {
      guard $0 > step, case .theirs = roles[$0] else { return false }
      return compare(unit, with: $0).differences.isEmpty
    }.map { script.steps[$0].place }
  }

  private func inspection(_ place: ReplayPlace) -> String {
    place.inspection(of: settings.options.source ?? "FILE")
  }

  private var anew: String {
    "if the \(own.other.rawValue) is right: record the session anew"
  }

  private func advice(_ unit: ReplayUnit, _ differences: [ReplayDifference]) -> [String] {
    var advice: [String] = []
    let places = differences.map(\.place)
    let isOfTopics = places.contains { place in
      ["kind", "versi", "topic", "filte", "targe"].contains(place.prefix(5))
    }
    if settings.options.match != .topic, !isOfTopics {
      advice.append("if kinds and topics alone matter: add --match topic")
    }
    if unit.packet?.type == .connack, places.contains("reasonCode") {
      advice.append("if the server wants a password: add --username NAME --password-file FILE")
    }
    return advice + [anew]
  }
}
