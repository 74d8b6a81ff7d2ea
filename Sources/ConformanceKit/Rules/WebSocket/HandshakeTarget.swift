internal import Wire

/// The addresses in a request (RFC 9112 section 3.2, RFC 3986 sections 3.2.2 and 3.2.3).
enum HandshakeTarget {
  /// Tells what is wrong with a request target.
  /// - Parameters:
  ///   - target: The request target.
  ///   - host: The value of `Host`, if there is one.
  /// - Returns: What is there, or nil where nothing is wrong.
  static func problem(with target: String, host: String?) -> String? {
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      let place = target.utf8.enumerated().first { !(0x21...0x7E).contains($0.element) }
      return "byte \(place?.element.hexadecimal ?? "") at place \(place?.offset ?? 0) of the target"
    }
    if target.hasPrefix("/") { return nil }
    guard
      let scheme = ["http", "https"].first(where: { target.lowercased().hasPrefix("\($0)://") })
    else { return "the target \(shown(target))" }
    let authority = authority(of: target, scheme)
    // Without Host there is nothing to compare with; that it is missing is for its own clause.
    guard let host, !host.isEmpty else { return nil }
    let port = scheme == "http" ? ":80" : ":443"
    let isSame = normal(authority, port) == normal(host, port)
    let address = "\(scheme)://\(WebSocketFault.withoutUser(authority))"
    return isSame
      ? nil : "the target \"\(address)…\" beside Host: \"\(WebSocketFault.withoutUser(host))\""
  }

  /// The host and the port of an address.
  private static func authority(of target: String, _ scheme: String) -> String {
    String(target.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" })
  }

  /// Tells whether the host of an address may be that of `Host`, written in another way (RFC 3986 section 6.2).
  static func mayNameHost(_ target: String, _ host: String) -> Bool {
    guard
      let scheme = ["http", "https"].first(where: { target.lowercased().hasPrefix("\($0)://") })
    else { return false }
    let port = scheme == "http" ? "80" : "443"
    let own = HostAndPort(authority(of: target, scheme).lowercased(), port)
    let other = HostAndPort(host.lowercased(), port)
    return own.port == other.port && own.mayBe(other)
  }

  /// A target without what may be secret in it: its query, and a user.
  private static func shown(_ target: String) -> String {
    let path = target.prefix { $0 != "?" && $0 != "@" }.prefix(80)
    return "\"\(path)\(path.utf8.count < target.utf8.count ? "…" : "")\""
  }

  /// A host in small letters, without the port that is meant anyway.
  private static func normal(_ authority: String, _ port: String) -> String {
    let text = authority.lowercased()
    return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
  }

  /// Tells whether a text is, with or without a port, the name of a host with the domain that it is in, and no address.
  static func isQualifiedName(_ text: String) -> Bool {
    guard isAuthority(text), !text.hasPrefix("[") else { return false }
    let labels = text.prefix { $0 != ":" }.split(separator: ".", omittingEmptySubsequences: false)
    // The last label of an address is a number (RFC 3696 section 2: that of a name is not).
    guard labels.count > 1, let last = labels.last(where: { !$0.isEmpty }) else { return false }
    return last.contains { $0.isLetter }
  }

  /// Tells whether a text is a host with or without a port.
  static func isAuthority(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let end = bytes.last == UInt8(ascii: "]") ? nil : bytes.lastIndex(of: UInt8(ascii: ":"))
    if let end {
      let port = bytes[(end + 1)...]
      guard port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
    }
    let host = bytes[..<(end ?? bytes.count)]
    if host.first == UInt8(ascii: "[") {
      let inside = host.dropFirst().dropLast()
      let isText = inside.allSatisfy { (0x21...0x7E).contains($0) && !"[]/".utf8.contains($0) }
      return host.last == UInt8(ascii: "]") && !inside.isEmpty && isText
    }
    return !host.isEmpty
      && host.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@[]:\\\"<>".utf8.contains($0) }
  }
}

/// A host and its port, as they are compared with others.
private struct HostAndPort {
  var host: Substring
  var port: Substring

  /// Reads an authority.
  /// - Parameters:
  ///   - text: The authority, in small letters.
  ///   - usual: The port where none is named.
  init(_ text: String, _ usual: String) {
    let colon = text.last == "]" ? nil : text.lastIndex(of: ":")
    host = text[..<(colon ?? text.endIndex)]
    let own = colon.map { text[text.index(after: $0)...] } ?? ""
    port = own.isEmpty ? usual[...] : own
  }

  /// Whether both may be the same host: nothing is looked up, and addresses have many forms.
  func mayBe(_ other: HostAndPort) -> Bool {
    if host == other.host || host.contains("%") || other.host.contains("%") { return true }
    if host.hasPrefix("["), other.host.hasPrefix("[") {
      guard let own = Self.groups(of: host), let others = Self.groups(of: other.host) else {
        return true
      }
      return own == others
    }
    if Self.withoutDot(host) == Self.withoutDot(other.host) { return true }
    // Numbers without their four parts in decimal are addresses for some, such as 0x7F.1.
    return Self.isNumeric(host) && Self.isNumeric(other.host)
      && !(Self.isPlain(host) && Self.isPlain(other.host))
  }

  private static func withoutDot(_ host: Substring) -> Substring {
    host.last == "." ? host.dropLast() : host
  }

  private static func isNumeric(_ host: Substring) -> Bool {
    host.split(separator: ".").allSatisfy { part in
      part.first?.isNumber == true && part.allSatisfy { $0.isHexDigit || $0 == "x" }
    }
  }

  private static func isPlain(_ host: Substring) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0).map(String.init) == String($0) }
  }

  /// The eight numbers of an IPv6 address in brackets; nil where it has another form, such as that with a zone.
  private static func groups(of host: Substring) -> [UInt16]? {
    let text = host.dropFirst().dropLast()
    var halves: [[UInt16]] = []
    for half in text.split(separator: "::", omittingEmptySubsequences: false) {
      let parts = half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { UInt16($0, radix: 16) }
      guard numbers.count == parts.count else { return nil }
      halves.append(numbers)
    }
    let count = halves.reduce(0) { $0 + $1.count }
    guard let first = halves.first, let last = halves.last else { return nil }
    if halves.count == 1 { return count == 8 ? first : nil }
    guard halves.count == 2, count < 8 else { return nil }
    return first + [UInt16](repeating: 0, count: 8 - count) + last
  }
}
