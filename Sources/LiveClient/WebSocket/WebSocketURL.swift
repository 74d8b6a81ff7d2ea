import DataClient

/// Where a WebSocket leads: `ws://user:password@host:port/path?query`, or `wss://…` for TLS (RFC 6455
/// section 3).
struct WebSocketURL: Sendable, Hashable {
  /// Whether TLS is spoken.
  let isSecure: Bool
  /// A host name, or an address without brackets.
  let host: String
  /// The port; 80, or 443 with TLS, when none is given.
  let port: UInt16
  /// The path with its query; at least `/`.
  let path: String
  /// What stands before the `@`, as it is; nil when nothing does.
  let userInfo: String?
  /// The host and the port, as the Host field has them.
  let authority: String

  /// Reads a URL.
  /// - Parameter text: The URL.
  /// - Throws: ``DataClientError`` that says what is wrong with it, without the password.
  init(_ text: String) throws(DataClientError) {
    guard let colon = text.firstRange(of: "://") else {
      throw Self.error("has no scheme, such as ws://")
    }
    let scheme = text[..<colon.lowerBound].lowercased()
    switch scheme {
    case "ws": isSecure = false
    case "wss": isSecure = true
    default: throw Self.error("has the scheme \(scheme), not ws or wss")
    }
    let rest = text[colon.upperBound...]
    guard !rest.contains("#") else { throw Self.error("has a fragment, which a WebSocket can't") }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    var authority = rest[..<end]
    let tail = String(rest[end...])
    path = tail.hasPrefix("/") ? tail : "/" + tail
    if let at = authority.lastIndex(of: "@") {
      userInfo = String(authority[..<at])
      authority = authority[authority.index(after: at)...]
    } else {
      userInfo = nil
    }
    // The rest is just what a broker's URL has.
    let place: BrokerURL
    do throws(DataClientError) {
      place = try BrokerURL((isSecure ? "mqtts://" : "mqtt://") + authority)
    } catch {
      throw DataClientError(
        error.code, error.message.replacing("The broker's URL", with: "The URL"))
    }
    host = place.host
    let hasPort = !authority.hasSuffix("]") && authority.contains(":")
    port = hasPort ? place.port : isSecure ? 443 : 80
    self.authority = String(authority)
  }

  private static func error(_ problem: String) -> DataClientError {
    DataClientError(.unreadable, "The URL \(problem).")
  }
}
