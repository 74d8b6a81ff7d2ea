/// What a ClientHello or ServerHello says in the clear (RFC 8446 section 4.1).
struct TLSHello: Equatable {
  let isFromClient: Bool
  /// The highest version that the client offers, or the one that the server chose.
  let version: UInt16
  /// The server that the client asks for (RFC 6066 section 3), if that is a host name.
  let serverName: String?

  /// Reads a hello from the body of its handshake message; nil if its fields do not fill it.
  ///
  /// - Parameters:
  ///   - body: The message behind its type and length.
  ///   - isFromClient: Which of the two it is.
  init?(_ body: ArraySlice<UInt8>, isFromClient: Bool) {
    var fields = Fields(rest: body)
    guard var version = fields.number(2), fields.bytes(32) != nil, fields.prefixed(1) != nil,
      isFromClient
        ? fields.prefixed(2) != nil && fields.prefixed(1) != nil : fields.bytes(3) != nil
    else { return nil }
    var serverName: String?
    // Before TLS 1.3 there may be no extensions.
    if !fields.rest.isEmpty {
      guard let block = fields.prefixed(2) else { return nil }
      var extensions = Fields(rest: block)
      while !extensions.rest.isEmpty {
        guard let type = extensions.number(2), let content = extensions.prefixed(2) else {
          return nil
        }
        switch type {
        case 0: serverName = Self.serverName(content)
        case 43: version = Self.version(content, isFromClient: isFromClient) ?? version
        default: continue
        }
      }
    }
    guard TLSRecord.versions.contains(version) else { return nil }
    self.isFromClient = isFromClient
    self.version = UInt16(version)
    self.serverName = serverName
  }

  /// Section 4.2.1: a list of the client, whose made-up values are left out (RFC 8701), or one choice.
  private static func version(_ content: ArraySlice<UInt8>, isFromClient: Bool) -> Int? {
    var fields = Fields(rest: content)
    guard isFromClient else { return fields.number(2) }
    guard var list = fields.prefixed(1).map(Fields.init) else { return nil }
    var highest: Int?
    while let offered = list.number(2) {
      if TLSRecord.versions.contains(offered) { highest = max(highest ?? 0, offered) }
    }
    return highest
  }

  /// The first host name, if it consists of what host names do.
  private static func serverName(_ content: ArraySlice<UInt8>) -> String? {
    var fields = Fields(rest: content)
    guard var list = fields.prefixed(2).map(Fields.init), list.number(1) == 0,
      let name = list.prefixed(2), (1...255).contains(name.count)
    else { return nil }
    let isHostName = name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isHostName ? String(decoding: name, as: UTF8.self) : nil
  }

  /// Fields one behind the other, none of which reaches beyond the end.
  private struct Fields {
    var rest: ArraySlice<UInt8>

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func number(_ width: Int) -> Int? {
      bytes(width)?.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Bytes behind their count.
    mutating func prefixed(_ width: Int) -> ArraySlice<UInt8>? {
      let before = rest
      guard let count = number(width), let content = bytes(count) else {
        rest = before
        return nil
      }
      return content
    }
  }
}
