import Wire

/// Hides the secrets of an opening handshake: cookies, authorizations, tokens in addresses.
enum HandshakeSecrets {
  /// No name of a subprotocol is so long; some clients put their token there, because a browser lets
  /// them set no other header.
  private static let longestSubprotocol = 40

  /// Returns the value of a header line as those may see it who must not see secrets.
  static func hidden(_ field: HTTPHead.Field) -> String {
    if isSecret(field.name[...]) { return "***" }
    if field.name.lowercased() == "sec-websocket-protocol" {
      return field.value.split(separator: ",", omittingEmptySubsequences: false)
        .map { hidden(subprotocol: String($0)) }.joined(separator: ",")
    }
    return hidden(in: field.value)
  }

  static func hidden(subprotocol: String) -> String {
    subprotocol.utf8.count > longestSubprotocol ? "***" : subprotocol
  }

  /// Returns an address with the secrets in its query and its user information hidden.
  static func hidden(in address: String) -> String {
    guard let query = address.firstIndex(of: "?") else { return hidingUser(address) }
    let pairs = address[address.index(after: query)...].split(
      separator: "&", omittingEmptySubsequences: false)
    let shown = pairs.map { pair in
      guard let equals = pair.firstIndex(of: "="), isSecret(pair[..<equals]) else {
        return String(pair)
      }
      return pair[...equals] + "***"
    }
    return hidingUser(String(address[..<query])) + "?" + shown.joined(separator: "&")
  }

  /// Hides what stands before the host (RFC 3986 section 3.2.1).
  private static func hidingUser(_ address: String) -> String {
    guard let scheme = address.firstRange(of: "://") else { return address }
    let rest = address[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return address }
    return address[..<scheme.upperBound] + "***" + rest[at...]
  }

  private static func isSecret(_ name: Substring) -> Bool {
    var name = name
    return name.withUTF8 { SecretKeys.contain(UnsafeRawBufferPointer($0)) }
  }
}
