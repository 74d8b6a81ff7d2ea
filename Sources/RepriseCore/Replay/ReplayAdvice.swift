/// What to do about differences that are meant.
enum ReplayAdvice {
  /// Returns what makes differences none.
  /// - Parameters:
  ///   - differences: What differs.
  ///   - options: How it was compared.
  /// - Returns: A sentence for each way, the nearest first.
  static func advice(
    for differences: [ReplayDifference], _ options: ReplayOptions
  ) -> [String] {
    var result: [String] = []
    let places = differences.map(\.place)
    if options.match != .strict, !places.contains("kind"), let place = places.first {
      if let role = role(for: place) { result.append("if each run makes it anew: \(role)") }
      let isOfPayload = places.allSatisfy { $0.hasPrefix("payload") }
      if isOfPayload, options.match == .json {
        result.append("if payloads don't matter: match .topic (reprise replay sdk --match topic)")
      }
    }
    result.append("if the application is right: record the session anew")
    return result
  }

  /// The role that lets a place have another value.
  private static func role(for place: String) -> String? {
    switch place {
    case "clientID", "username", "password":
      return "ReplayRoles.connectFields.insert(.\(place))"
    default: break
    }
    if place.hasPrefix("payload.") {
      let path = place.dropFirst("payload.".count)
      guard !path.contains("["), let key = path.split(separator: ".").last else { return nil }
      return "ReplayRoles.paths[\"\(path)\"] = \"\(key)\""
    }
    guard let level = place.firstRange(ofText: " level ") else { return nil }
    return "a pattern in ReplayRoles.topics with a role such as {session} as level "
      + place[level.upperBound...]
  }
}
