/// What a request is in HTTP: for who sends it, records it, and compares it with a captured one.
extension RequestMessage {
  /// Whether the parameters are in the query; a TRACE has no body (RFC 9110 section 9.3.8).
  package static func hasQuery(_ method: String) -> Bool {
    ["GET", "HEAD", "TRACE"].contains(method.uppercased())
  }

  /// The request target below the path of the server's URL, in percent-encoding.
  /// - Parameter base: The path of the server's URL, in percent-encoding; it may be empty.
  /// - Returns: Path and, where the method has one, query.
  package func target(below base: String) -> String {
    let path = path.drop { $0 == "/" }
    var target = (base.hasSuffix("/") ? base : base + "/") + Self.escape(path, but: Self.inPath)
    if Self.hasQuery(method), !parameters.isEmpty {
      target += "?"
      target +=
        texts.sorted { $0.key < $1.key }
        .map { "\(Self.escape($0.key, but: []))=\(Self.escape($0.value, but: []))" }
        .joined(separator: "&")
    }
    return target
  }

  /// The parameters as they are sent: in a query all are texts.
  var sentParameters: [String: JSONValue] {
    Self.hasQuery(method) ? texts.mapValues { .string($0) } : parameters
  }

  /// The body: the parameters as an object of JSON; nil where the method has none.
  package var body: [UInt8]? {
    guard !Self.hasQuery(method) else { return nil }
    let members = parameters.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    return JSONValue.object(members).utf8
  }

  /// Reads what a request target and a body say of a request.
  ///
  /// What is no object of JSON is one parameter, `(body)`.
  /// - Parameters:
  ///   - method: The method.
  ///   - target: The request target.
  ///   - body: The body.
  ///   - base: The path of the server's URL, in percent-encoding; a path that is not below it is taken as it is, with
  ///     its slash.
  package init(method: String, target: String, body: [UInt8], below base: String) {
    let parts = Self.withoutAuthority(target).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts.first.map(String.init) ?? ""
    let base = base.hasSuffix("/") ? base : base + "/"
    let path = whole.hasPrefix(base) ? String(whole.dropFirst(base.count)) : whole
    var parameters: [String: JSONValue] = [:]
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      parameters[Self.unescape(sides[0])] = .string(
        sides.count > 1 ? Self.unescape(sides[1]) : "")
    }
    if !body.isEmpty {
      if case .object(let members)? = JSONValue(parsing: body) {
        for member in members { parameters[member.key] = member.value }
      } else {
        parameters["(body)"] = .string(String(decoding: body, as: UTF8.self))
      }
    }
    self.init(path: Self.unescape(path[...]), method: method, parameters: parameters)
  }

  /// A target for a proxy is a whole URL (RFC 9112 section 3.2.2).
  private static func withoutAuthority(_ target: String) -> String {
    target.hasPrefix("/") || !target.contains("://") ? target : HTTPBase(ofURL: target).rest
  }

  // MARK: Percent-encoding

  /// What stands unescaped in a path, besides the characters that never mean anything (RFC 3986 section 3.3).
  private static let inPath = Set("!$&'()*+,/=@".utf8)

  /// Escapes all but the characters that never mean anything in a URL (RFC 3986 section 2.3), and some others.
  private static func escape(_ text: some StringProtocol, but others: Set<UInt8>) -> String {
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        escaped.append(byte)
      case _ where others.contains(byte): escaped.append(byte)
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += Array("%\(byte < 0x10 ? "0" : "")\(digits)".utf8)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  private static func unescape(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = hexadecimal(bytes[index + 1]), let low = hexadecimal(bytes[index + 2])
      {
        plain.append(high << 4 | low)
        index += 3
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8(truncatingIfNeeded: $0) }
  }
}

/// The parts of the URL of a server that requests are sent to.
struct HTTPBase: Sendable, Hashable {
  /// Host and port, as they stand in the URL.
  let authority: String
  /// What stands behind them, at least `/`.
  let rest: String

  /// Takes a URL apart; what is none is all authority.
  init(ofURL url: String) {
    let behind = url.firstRange(ofText: "://").map { url[$0.upperBound...] } ?? url[...]
    let end = behind.firstIndex { $0 == "/" || $0 == "?" } ?? behind.endIndex
    let authority = behind[..<end]
    self.authority = String(
      authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
    rest = behind[end...].hasPrefix("/") ? String(behind[end...]) : "/" + behind[end...]
  }

  /// The path of it.
  var path: String { String(rest.prefix { $0 != "?" }) }
}
