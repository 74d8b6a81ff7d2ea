/// What some bytes begin with, as far as HTTP/1 is concerned (RFC 9112 sections 3 and 4).
package enum HTTPStart {
  /// A whole request line.
  case request
  /// The start of a status line.
  case response
  /// What may become one of them.
  case maybe
  case no

  /// No method that is in use is longer.
  private static let longestMethod = 16
  /// Longer than this no first line is waited for.
  private static let longestLine = 8_192

  /// Looks at bytes.
  package init(_ bytes: RawSpan) {
    guard !bytes.isEmpty else {
      self = .no
      return
    }
    self = Self.response(bytes)
    if self == .no { self = Self.request(bytes) }
  }

  /// Tells whether some bytes begin with a status line, as far as they go.
  static func beginsResponse(_ bytes: RawSpan) -> Bool { response(bytes) != .no }

  private static func response(_ bytes: RawSpan) -> HTTPStart {
    let prefix: StaticString = "HTTP/1."
    let count = min(bytes.byteCount, prefix.utf8CodeUnitCount)
    let isEqual = bytes.extracting(first: count).withUnsafeBytes { bytes in
      prefix.withUTF8Buffer { $0.prefix(count).elementsEqual(bytes) }
    }
    guard isEqual else { return .no }
    return count == prefix.utf8CodeUnitCount ? .response : .maybe
  }

  /// Capitals, a space, something, and `HTTP/` with a version at the end of the line.
  private static func request(_ bytes: RawSpan) -> HTTPStart {
    bytes.withUnsafeBytes { bytes in
      let method = bytes.prefix(longestMethod + 1).prefix {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
      }
      if method.count == bytes.count { return .maybe }
      guard (1...longestMethod).contains(method.count), bytes[method.count] == 0x20 else {
        return .no
      }
      guard let end = bytes.prefix(longestLine).firstIndex(of: 0x0A) else {
        let isText = bytes.allSatisfy { $0 >= 0x20 || $0 == 0x0D }
        return isText && bytes.count < longestLine ? .maybe : .no
      }
      var line = bytes[..<end]
      if line.last == 0x0D { line.removeLast() }
      let version = line.suffix(9)
      return version.elementsEqual(" HTTP/1.1".utf8) || version.elementsEqual(" HTTP/1.0".utf8)
        ? .request : .no
    }
  }
}
