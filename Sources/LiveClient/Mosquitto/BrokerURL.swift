public import DataClient

/// Where a broker is: `mqtt://user:password@host:port`, or `mqtts://…` for TLS.
public struct BrokerURL: Sendable, Hashable {
  /// Whether TLS is spoken.
  public let isSecure: Bool
  /// A host name, or an address without brackets.
  public let host: String
  /// The port; 1883, or 8883 with TLS, when none is given.
  public let port: UInt16
  /// The user name, if there is one.
  public let username: String?
  /// The password, if there is one.
  public let password: [UInt8]?

  /// Reads a URL.
  /// - Parameter text: The URL.
  /// - Throws: `DataClientError` that says what is wrong with it, without the password.
  public init(_ text: String) throws(DataClientError) {
    var rest = Substring(text)
    switch Self.take(&rest, upTo: "://")?.lowercased() {
    case "mqtt": isSecure = false
    case "mqtts": isSecure = true
    case nil: throw Self.error("has no scheme, such as mqtt://")
    case .some(let scheme): throw Self.error("has the scheme \(scheme), not mqtt or mqtts")
    }
    if rest.last == "/" { rest.removeLast() }
    guard !rest.contains(where: { "/?#".contains($0) }) else {
      throw Self.error("has a path, which MQTT has no use for")
    }
    if let at = rest.lastIndex(of: "@") {
      var user = rest[..<at]
      rest = rest[rest.index(after: at)...]
      let name = Self.take(&user, upTo: ":")
      username = String(decoding: try Self.decode(name ?? user), as: UTF8.self)
      password = name == nil ? nil : try Self.decode(user)
    } else {
      username = nil
      password = nil
    }
    let (host, port) = try Self.hostAndPort(rest)
    self.host = host
    self.port = port ?? (isSecure ? 8883 : 1883)
  }

  /// What a URL says before its host: user and password as they stand there, and the `@`.
  static func user(in text: String) -> Substring {
    var rest = Substring(text)
    _ = take(&rest, upTo: "://")
    return rest.lastIndex(of: "@").map { rest[...$0] } ?? ""
  }

  private static func hostAndPort(
    _ text: Substring
  ) throws(DataClientError) -> (host: String, port: UInt16?) {
    let host: Substring
    var rest = text
    if rest.first == "[" {
      rest.removeFirst()
      guard let address = take(&rest, upTo: "]") else { throw error("has a [ without a ]") }
      host = address
      guard rest.isEmpty || rest.first == ":" else { throw error("has text behind its ]") }
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = rest[..<end]
      rest = rest[end...]
    }
    guard !host.isEmpty else { throw error("has no host") }
    guard !host.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7f }) else {
      throw error("has a host with a space or a control character in it")
    }
    guard !rest.isEmpty else { return (String(host), nil) }
    guard let port = UInt16(rest.dropFirst()), port > 0 else {
      throw error("has a port that is not a number from 1 to 65535")
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
  private static func decode(_ text: Substring) throws(DataClientError) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard
        rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16)
      else { throw error("has a % that two hexadecimal digits do not follow") }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func error(_ problem: String) -> DataClientError {
    DataClientError(.unreadable, "The broker's URL \(problem).")
  }
}

extension BrokerURL: CustomStringConvertible {
  /// The URL without user name and password, to be shown and recorded.
  public var description: String {
    let shownHost = host.contains(":") ? "[\(host)]" : host
    return "\(isSecure ? "mqtts" : "mqtt")://\(shownHost):\(port)"
  }
}
