/// What a ClientHello or ServerHello says in the clear (RFC 5246 section 7.4.1, RFC 8446 section 4.1).
struct TLSHello: Equatable {
  /// What the random of a HelloRetryRequest is, which else looks like a ServerHello (RFC 8446 section 4.1.3).
  private static let retry: [UInt8] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
  ]

  let isFromClient: Bool
  /// The highest version that the client offers, or the one that the server chose.
  private(set) var version: UInt16
  let random: [UInt8]
  let sessionID: [UInt8]
  /// What the server chose; nil in a ClientHello.
  private(set) var suite: TLSCipherSuite?
  /// Whether the server chose to compress (RFC 5246 section 7.4.1.3).
  private(set) var isCompressed = false
  /// What extends it.
  private(set) var extensions = Extensions()

  /// Whether this is a HelloRetryRequest.
  var isRetry: Bool { !isFromClient && random == Self.retry }

  /// Reads a hello from the body of its handshake message; nil if its fields do not fill it.
  ///
  /// - Parameters:
  ///   - body: The message behind its type and length.
  ///   - isFromClient: Which of the two it is.
  init?(_ body: ArraySlice<UInt8>, isFromClient: Bool) {
    var fields = TLSFields(rest: body)
    guard let version = fields.number(2), let random = fields.bytes(32),
      let sessionID = fields.prefixed(1), TLSRecord.versions.contains(version)
    else { return nil }
    self.isFromClient = isFromClient
    self.version = UInt16(version)
    self.random = Array(random)
    self.sessionID = Array(sessionID)
    if isFromClient {
      guard fields.prefixed(2) != nil, fields.prefixed(1) != nil else { return nil }
    } else {
      guard let suite = fields.number(2), let compression = fields.number(1) else { return nil }
      self.suite = TLSCipherSuite(value: UInt16(suite))
      isCompressed = compression != 0
    }
    // Before TLS 1.3 there may be no extensions.
    if !fields.rest.isEmpty {
      extensions = Extensions(fields.rest)
      guard extensions.areWhole else { return nil }
      if let field = extensions.versions {
        self.version =
          Self.version(field, isFromClient: isFromClient).map(UInt16.init)
          ?? self.version
      }
    }
    guard TLSRecord.versions.contains(Int(self.version)) else { return nil }
  }

  /// Section 4.2.1: a list of the client, whose made-up values are left out (RFC 8701), or one choice.
  private static func version(_ content: ArraySlice<UInt8>, isFromClient: Bool) -> Int? {
    var fields = TLSFields(rest: content)
    guard isFromClient else { return fields.number(2) }
    guard var list = fields.prefixed(1).map(TLSFields.init) else { return nil }
    var highest: Int?
    while let offered = list.number(2) {
      if TLSRecord.versions.contains(offered) { highest = max(highest ?? 0, offered) }
    }
    return highest
  }

  /// The name of a version.
  static func name(ofVersion version: UInt16) -> String {
    switch version {
    case 0x0300: "SSL 3.0"
    case 0x0301: "TLS 1.0"
    case 0x0302: "TLS 1.1"
    case 0x0303: "TLS 1.2"
    default: "TLS 1.3"
    }
  }
}

extension TLSHello {
  /// What extensions of a hello say, or the Encrypted Extensions (RFC 8446 section 4.2).
  struct Extensions: Equatable {
    /// The server that the client asks for (RFC 6066 section 3); empty if it is no host name.
    private(set) var serverName: String?
    /// The protocols that the client offers, or the one that the server chose (RFC 7301).
    private(set) var protocols: [String] = []
    /// The ticket of 1.2 by which the client resumes a session (RFC 5077).
    private(set) var ticket: [UInt8] = []
    /// Whether the master secret depends on the whole handshake (RFC 7627).
    private(set) var hasExtendedMasterSecret = false
    /// Whether the HMAC is of what is encrypted (RFC 7366).
    private(set) var encryptsThenMACs = false
    /// Whether there is, or may be, early data (RFC 8446 section 4.2.10).
    private(set) var hasEarlyData = false
    /// Whether a pre-shared key is offered, or chosen (RFC 8446 section 4.2.11).
    private(set) var hasPreSharedKey = false
    /// Whether there is Diffie-Hellman, or may be (RFC 8446 section 4.2.8).
    private(set) var hasKeyShare = false
    /// What the field of versions holds.
    private(set) var versions: ArraySlice<UInt8>?
    /// Whether no extension reaches beyond its end.
    private(set) var areWhole = true

    /// There are none.
    init() {}

    /// Reads extensions behind the count of their bytes.
    init(_ bytes: ArraySlice<UInt8>) {
      var fields = TLSFields(rest: bytes)
      guard var list = fields.prefixed(2).map(TLSFields.init) else {
        areWhole = false
        return
      }
      while !list.rest.isEmpty {
        guard let type = list.number(2), let content = list.prefixed(2) else {
          areWhole = false
          return
        }
        take(type, content)
      }
    }

    private mutating func take(_ type: Int, _ content: ArraySlice<UInt8>) {
      switch type {
      case 0: serverName = Self.serverName(content) ?? ""
      case 16: protocols = Self.protocols(content)
      case 22: encryptsThenMACs = true
      case 23: hasExtendedMasterSecret = true
      case 35: ticket = Array(content)
      case 41: hasPreSharedKey = true
      case 42: hasEarlyData = true
      case 43: versions = content
      case 51: hasKeyShare = true
      default: break
      }
    }

    /// The first host name, if it consists of what host names do.
    private static func serverName(_ content: ArraySlice<UInt8>) -> String? {
      var fields = TLSFields(rest: content)
      guard var list = fields.prefixed(2).map(TLSFields.init), list.number(1) == 0,
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

    /// The names that can be shown; made-up ones can't be (RFC 8701).
    private static func protocols(_ content: ArraySlice<UInt8>) -> [String] {
      var fields = TLSFields(rest: content)
      guard var list = fields.prefixed(2).map(TLSFields.init) else { return [] }
      var names: [String] = []
      while let name = list.prefixed(1) {
        guard !name.isEmpty, name.allSatisfy({ (0x21...0x7E).contains($0) }) else { continue }
        names.append(String(decoding: name, as: UTF8.self))
      }
      return names
    }
  }
}
