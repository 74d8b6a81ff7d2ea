extension ReplayBindings {
  /// Rewrites what a recorded request asks for, or where a recorded answer sends its client, as this run has it.
  ///
  /// A level of the path, or the value of a parameter, that is an identifier which was made anew, is that of this run:
  /// what was made by one request is asked for by the next ones.
  /// - Parameters:
  ///   - target: The target.
  ///   - position: Where the message stands in the session.
  /// - Returns: The target then; nil where no bound value stands in it.
  package func rewritten(target: String, at position: Int) -> String? {
    guard !isEmpty else { return nil }
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let levels = parts.first?.split(separator: "/", omittingEmptySubsequences: false) ?? []
    var result = levels.map { own($0, position) }.joined(separator: "/")
    if parts.count > 1, let query = parts.last {
      let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map {
        parameter in
        let words = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count > 1, let name = words.first, let value = words.last else {
          return String(parameter)
        }
        return "\(name)=\(own(value, position))"
      }
      result += "?" + parameters.joined(separator: "&")
    }
    return result == target ? nil : result
  }

  /// What stands in this run where a recorded text does.
  private func own(_ text: Substring, _ position: Int) -> String {
    let recorded = String(text)
    guard !recorded.isEmpty, let actual = actual(ReplayRoles.identifier, recorded, at: position),
      actual.utf8.allSatisfy(Self.isUnreserved)
    else { return recorded }
    return actual
  }

  /// Whether a character stands for itself in a URL (RFC 3986 section 2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }
}
