/// A cipher suite: what its name says of how records are protected.
struct TLSCipherSuite: Hashable {
  /// How records are protected.
  enum Protection {
    case authenticated(TLSAEAD)
    /// AES in CBC mode with a key of so many bytes, and an HMAC.
    case block(keySize: Int, TLSDigest)
    /// No encryption, but an HMAC.
    case null(TLSDigest)
  }

  /// How both ends agree on a secret, as far as a key can undo it.
  enum KeyExchange {
    /// The client encrypts it by the server's RSA key (RFC 5246 section 7.4.7.1).
    case rsa
    /// It is a key that both have (RFC 4279 section 2).
    case psk
    /// It is a key that both have, and what the client encrypts by the server's RSA key (RFC 4279 section 4).
    case rsaPSK
    /// In another way, as by Diffie-Hellman, which no key undoes.
    case other
  }

  /// The value in IANA's registry.
  let value: UInt16

  /// The name in the registry, or the value where it is none of those known here.
  var name: String {
    if let name = Self.names[value] { return "TLS_\(name)" }
    let digits = String(value, radix: 16, uppercase: true)
    return "cipher suite 0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// How its records are protected; nil where that can't be undone.
  var protection: Protection? {
    guard let words = Self.names[value]?.split(separator: "_") else { return nil }
    // Those of 1.3 name nothing but the cipher and the hash.
    let cipher = words.lastIndex(of: "WITH").map { words[($0 + 1)...] } ?? words[...]
    let digest = TLSDigest(rawValue: String(cipher.last ?? "")) ?? .sha1
    switch cipher.prefix(3).joined(separator: "_") {
    case "AES_128_GCM": return .authenticated(.aes128GCM)
    case "AES_256_GCM": return .authenticated(.aes256GCM)
    case "AES_128_CCM":
      return .authenticated(cipher.contains("8") ? .aes128CCM8 : .aes128CCM)
    case "AES_256_CCM":
      return .authenticated(cipher.contains("8") ? .aes256CCM8 : .aes256CCM)
    case "CHACHA20_POLY1305_SHA256": return .authenticated(.chaCha20Poly1305)
    case "AES_128_CBC": return .block(keySize: 16, digest)
    case "AES_256_CBC": return .block(keySize: 32, digest)
    default: return cipher.first == "NULL" ? .null(digest) : nil
    }
  }

  /// How both ends agree on a secret.
  var keyExchange: KeyExchange {
    guard let name = Self.names[value] else { return .other }
    let words = name.split(separator: "_").prefix { $0 != "WITH" }
    return switch words {
    case ["RSA"]: .rsa
    case ["PSK"]: .psk
    case ["RSA", "PSK"]: .rsaPSK
    default: .other
    }
  }

  /// The hash that its secrets are made with (RFC 5246 section 5, RFC 8446 section 7.1).
  var hash: TLSHash { Self.names[value]?.hasSuffix("_SHA384") == true ? .sha384 : .sha256 }
}

/// Encryption that authenticates as well (RFC 5116).
enum TLSAEAD: CaseIterable {
  case aes128GCM, aes256GCM, aes128CCM, aes256CCM, aes128CCM8, aes256CCM8, chaCha20Poly1305

  /// The size of the key in bytes.
  var keySize: Int {
    switch self {
    case .aes128GCM, .aes128CCM, .aes128CCM8: 16
    case .aes256GCM, .aes256CCM, .aes256CCM8, .chaCha20Poly1305: 32
    }
  }

  /// The size of what authenticates, in bytes.
  var tagSize: Int { self == .aes128CCM8 || self == .aes256CCM8 ? 8 : 16 }

  var isCCM: Bool {
    switch self {
    case .aes128CCM, .aes256CCM, .aes128CCM8, .aes256CCM8: true
    case .aes128GCM, .aes256GCM, .chaCha20Poly1305: false
    }
  }
}

/// The hash of an HMAC over records.
enum TLSDigest: String {
  case sha1 = "SHA"
  case sha256 = "SHA256"
  case sha384 = "SHA384"

  /// Its size in bytes.
  var size: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha384: 48
    }
  }
}

/// The hash that secrets are made with.
enum TLSHash {
  case sha256, sha384

  /// Its size, and that of a secret of 1.3, in bytes.
  var size: Int { self == .sha256 ? 32 : 48 }
}
