import RepriseCore
import Wire

// What is said where the other end leaves the session.
extension ReplayedEnd {
  /// Another packet than those that may come.
  func other(
    _ packet: ReplayPacket, insteadOf step: Int, _ differences: [ReplayDifference],
    alternatives: Int
  ) -> ReplayDivergence {
    let recorded = script.steps[step]
    return ReplayDivergence(
      kind: .otherAction, place: recorded.place, expected: recorded.summary,
      actual: packet.summary, differences: differences, alternatives: alternatives,
      laterPlace: later(packet, than: step), remedy: inspection(recorded.place),
      advice: advice(packet, differences))
  }

  /// A packet where the session has none any more.
  func surplus(_ packet: ReplayPacket) -> ReplayDivergence {
    let last = script.steps.last?.place
    return ReplayDivergence(
      kind: .extraAction, place: last, expected: nil, actual: packet.summary, differences: [],
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

  /// Where the session has a packet, looked for among those that come later.
  private func later(_ packet: ReplayPacket, than step: Int) -> ReplayPlace? {
    open.first {
      guard $0 > step, case .theirs = roles[$0] else { return false }
      return compare(packet, with: $0).differences.isEmpty
    }.map { script.steps[$0].place }
  }

  private func inspection(_ place: ReplayPlace) -> String {
    place.inspection(of: settings.options.source ?? "FILE")
  }

  private var anew: String {
    "if the \(own.other.rawValue) is right: record the session anew"
  }

  private func advice(_ packet: ReplayPacket, _ differences: [ReplayDifference]) -> [String] {
    var advice: [String] = []
    let places = differences.map(\.place)
    let isOfTopics = places.contains { place in
      ["kind", "versi", "topic", "filte"].contains(place.prefix(5))
    }
    if settings.options.match != .topic, !isOfTopics {
      advice.append("if kinds and topics alone matter: add --match topic")
    }
    if packet.type == .connack, places.contains("reasonCode") {
      advice.append("if the server wants a password: add --username NAME --password-file FILE")
    }
    return advice + [anew]
  }
}
