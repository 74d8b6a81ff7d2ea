/// Where an end of a connection is.
struct FilterAddress: Sendable, Equatable {
  /// The address without its port, IPv6 without brackets; a URL's host.
  var host: [UInt8]
  /// The port, where one is stated.
  var port: Int?

  /// Takes `10.0.0.1:1883`, `[::1]:1883`, or a URL as recordings of a client have it.
  init(_ text: String) {
    var rest = text[...]
    if let scheme = rest.firstRange(ofText: "://") {
      rest = rest[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
      if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
    }
    if let colon = rest.lastIndex(of: ":"), let number = UInt16(rest[rest.index(after: colon)...]),
      rest.hasPrefix("[") || !rest[..<colon].contains(":")
    {
      port = Int(number)
      rest = rest[..<colon]
    }
    if rest.hasPrefix("["), rest.hasSuffix("]") { rest = rest.dropFirst().dropLast() }
    host = Array(rest.utf8)
  }
}
