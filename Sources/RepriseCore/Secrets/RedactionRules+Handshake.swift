import Wire

// The secrets of an opening handshake: cookies, authorizations, tokens in addresses and subprotocols.
extension RedactionRules {
  /// No name of a subprotocol is so long; some clients put their token there, because a browser lets
  /// them set no other header.
  private static let longestSubprotocol = 40

  /// Returns the value of a header line as it may be shown.
  func shown(_ field: HTTPHead.Field) -> String {
    if names.contain(field.name) { return Self.mark }
    switch field.name.lowercased() {
    case "sec-websocket-protocol":
      return field.value.split(separator: ",", omittingEmptySubsequences: false)
        .map { shown(subprotocol: String($0)) }.joined(separator: ",")
    case "host": return shown(authority: field.value)
    default: return shown(field.value)
    }
  }

  /// Returns a subprotocol as it may be shown: what stands behind the name of a secret, as in `bearer.…`, is
  /// hidden, and so is what is too long for a name.
  package func shown(subprotocol: String) -> String {
    guard !names.isEmpty else { return subprotocol }
    var text = subprotocol[...]
    while let end = text.firstIndex(where: { ".=:~".contains($0) }) {
      let name = text[..<end].split { "-_ ".contains($0) }.last ?? ""
      let rest = text.index(after: end)
      if rest < text.endIndex, names.contain(name) { return subprotocol[..<rest] + Self.mark }
      text = text[rest...]
    }
    let isTooLong = hidesSecrets && subprotocol.utf8.count > Self.longestSubprotocol
    return isTooLong ? Self.mark : shown(subprotocol)
  }

  /// Returns host and port as they may be shown (RFC 3986 section 3.2).
  func shown(authority: String) -> String {
    guard hidesSecrets, let at = authority.lastIndex(of: "@") else { return authority }
    return Self.mark + authority[at...]
  }

  /// Returns a URL as it may be shown: without user information, and without tokens in its query.
  package func shown(url: String) -> String { shown(url) }
}
