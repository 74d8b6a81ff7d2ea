public import RepriseCore

/// Where a broker is: `mqtt://user:password@host:port`, or `mqtts://…` for TLS; or, for MQTT over WebSocket,
/// `ws://user:password@host:port/path` and `wss://…`.
public struct BrokerURL: Sendable, Hashable {
  /// Whether TLS is spoken.
  public let isSecure: Bool
  /// A host name, or an address without brackets.
  public let host: String
  /// The port; when none is given 1883, or 8883 with TLS, and 80 or 443 for WebSocket.
  public let port: UInt16
  /// The user name, if there is one.
  public let username: String?
  /// The password, if there is one.
  public let password: [UInt8]?
  /// The path of a WebSocket with its query, at least `/`; nil where MQTT goes over TCP itself.
  public let path: String?
  /// Whether it is one of HTTP, whose path is all that stands behind the host.
  package let isHTTP: Bool

  /// Reads a URL.
  /// - Parameter text: The URL.
  /// - Throws: `DataClientError` that says what is wrong with it, without the password.
  public init(_ text: String) throws(DataClientError) {
    do throws(Problem) { try self.init(parsing: text) } catch { throw Self.error(error) }
  }

  /// Reads the URL of a server of HTTP.
  /// - Parameter text: The URL.
  /// - Throws: `DataClientError` that says what is wrong with it, without the password.
  package init(ofHTTP text: String) throws(DataClientError) {
    do throws(Problem) { try self.init(parsing: text, isHTTP: true) } catch {
      throw DataClientError(.unreadable, "the server's URL \(error.text)")
    }
  }

  /// Whether a text is meant as a URL of HTTP.
  /// - Parameter text: The text.
  /// - Returns: Whether it has the scheme of one.
  package static func isHTTP(_ text: String) -> Bool {
    var rest = Substring(text)
    return ["http", "https"].contains(take(&rest, upTo: "://")?.lowercased())
  }

  /// What is wrong with a URL, as the end of a sentence that begins with its name.
  struct Problem: Error {
    let text: String

    init(_ text: String) { self.text = text }
  }

  /// Reads a URL.
  init(parsing text: String, isHTTP: Bool = false) throws(Problem) {
    var rest = Substring(text)
    let isWebSocket: Bool
    self.isHTTP = isHTTP
    switch Self.take(&rest, upTo: "://")?.lowercased() {
    case "http" where isHTTP: (isSecure, isWebSocket) = (false, true)
    case "https" where isHTTP: (isSecure, isWebSocket) = (true, true)
    case "mqtt": (isSecure, isWebSocket) = (false, false)
    case "mqtts": (isSecure, isWebSocket) = (true, false)
    case "ws": (isSecure, isWebSocket) = (false, true)
    case "wss": (isSecure, isWebSocket) = (true, true)
    case nil: throw Problem("has no scheme, such as mqtt://")
    case .some(let scheme): throw Problem("has the scheme \(scheme), not mqtt, mqtts, ws or wss")
    }
    path = try isWebSocket ? Self.takePath(&rest) : nil
    if rest.last == "/" { rest.removeLast() }
    guard !rest.contains(where: { "/?#".contains($0) }) else {
      throw Problem("has a path, which MQTT has no use for")
    }
    if let at = rest.lastIndex(of: "@") {
      var user = rest[..<at]
      rest = rest[rest.index(after: at)...]
      let name = Self.take(&user, upTo: ":")
      guard let text = String(validating: try Self.decode(name ?? user), as: UTF8.self) else {
        throw Problem("has a user name that is no UTF-8")
      }
      username = text
      password = name == nil ? nil : try Self.decode(user)
    } else {
      username = nil
      password = nil
    }
    let (host, port) = try Self.hostAndPort(rest)
    self.host = host
    let standard: (plain: UInt16, secure: UInt16) = isWebSocket ? (80, 443) : (1883, 8883)
    self.port = port ?? (isSecure ? standard.secure : standard.plain)
  }

  /// Takes the path and the query off a URL of WebSocket (RFC 6455 section 3).
  private static func takePath(_ rest: inout Substring) throws(Problem) -> String {
    guard !rest.contains("#") else { throw Problem("has a fragment, which a WebSocket can't") }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let path = rest[end...]
    rest = rest[..<end]
    // It stands in the first line of a request as it is.
    guard !path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw Problem("has a path with a space or a control character in it; write it as %20")
    }
    return path.hasPrefix("/") ? String(path) : "/" + path
  }

  /// Checks that MQTT goes over TCP itself.
  /// - Parameter other: What would take it over WebSocket, if anything does.
  /// - Throws: ``DataClientError`` for WebSocket.
  package func checkIsTCP(or other: String? = nil) throws(DataClientError) {
    guard path != nil else { return }
    let hint = other.map { "; \($0) takes ws:// and wss://" } ?? ""
    throw Self.error(Problem("is one of WebSocket, where mqtt:// or mqtts:// is needed\(hint)"))
  }

  /// What a URL says before its host: user and password as they stand there, and the `@`.
  package static func user(in text: String) -> Substring {
    var rest = Substring(text)
    _ = take(&rest, upTo: "://")
    return rest.lastIndex(of: "@").map { rest[...$0] } ?? ""
  }

  /// What a URL has for host and port, as they stand there.
  static func authority(in text: String) -> Substring {
    var rest = Substring(text)
    _ = take(&rest, upTo: "://")
    rest = rest.prefix { $0 != "/" && $0 != "?" }
    return rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
  }

  private static func hostAndPort(
    _ text: Substring
  ) throws(Problem) -> (host: String, port: UInt16?) {
    let host: Substring
    var rest = text
    if rest.first == "[" {
      rest.removeFirst()
      guard let address = take(&rest, upTo: "]") else { throw Problem("has a [ without a ]") }
      host = address
      guard rest.isEmpty || rest.first == ":" else { throw Problem("has text behind its ]") }
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = rest[..<end]
      rest = rest[end...]
    }
    guard !host.isEmpty else { throw Problem("has no host") }
    guard !host.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7f }) else {
      throw Problem("has a host with a space or a control character in it")
    }
    guard !rest.isEmpty else { return (String(host), nil) }
    let digits = rest.dropFirst()
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
      port > 0
    else {
      throw Problem("has a port that is not a number from 1 to 65535")
    }
    return (String(host), port)
  }

  /// Takes off what stands before a separator, and the separator.
  private static func take(_ text: inout Substring, upTo separator: String) -> Substring? {
    guard let range = text.firstRange(of: separator) else { return nil }
    let part = text[..<range.lowerBound]
    text = text[range.upperBound...]
    return part
  }

  /// The bytes of a part of a URL with its percent signs resolved.
  private static func decode(_ text: Substring) throws(Problem) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      guard
        digits.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
      else { throw Problem("has a % that two hexadecimal digits do not follow") }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func error(_ problem: Problem) -> DataClientError {
    DataClientError(.unreadable, "the broker's URL \(problem.text)")
  }
}

extension BrokerURL: CustomStringConvertible {
  /// The URL without user name, password and query, to be shown and recorded.
  public var description: String {
    let shownHost = host.contains(":") ? "[\(host)]" : host
    let scheme = (isHTTP ? "http" : path == nil ? "mqtt" : "ws") + (isSecure ? "s" : "")
    let shownPath = path.map { $0.prefix { $0 != "?" } } ?? ""
    return "\(scheme)://\(shownHost):\(port)\(shownPath)"
  }

  /// The URL without user name and password, to connect to.
  public var address: String {
    description + (path.map { $0.drop { $0 != "?" } } ?? "")
  }
}
