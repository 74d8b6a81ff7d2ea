internal import CCrypto

/// How a device proves with its secret that it is the one.
public enum SignMethod: String, Sendable, Hashable, CaseIterable {
  /// HMAC (RFC 2104) with MD5, keyed by the secret.
  case hmacMD5 = "hmacmd5"
  /// HMAC with SHA-1, keyed by the secret.
  case hmacSHA1 = "hmacsha1"
  /// HMAC with SHA-256, keyed by the secret.
  case hmacSHA256 = "hmacsha256"
  /// SHA-256 of a text in which the secret stands, as Bluetooth devices do it.
  case sha256 = "sha256"

  /// Finds a method by its name, whatever its case; nil when there is none.
  /// - Parameter name: The name: `hmacSha256`, `sha256`.
  public init?(named name: String) { self.init(rawValue: name.lowercased()) }
}

/// What OpenSSL computes.
enum Digest {
  /// Returns the SHA-256 of bytes (FIPS 180-4); nil when the library does not have it.
  static func sha256(_ bytes: [UInt8]) -> [UInt8]? {
    var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_Digest(bytes, bytes.count, &result, &count, EVP_sha256(), nil) == 1 else {
      return nil
    }
    return Array(result.prefix(Int(count)))
  }

  /// Returns the HMAC of bytes (RFC 2104); nil when the library does not have the hash, as where
  /// MD5 is forbidden.
  static func hmac(_ method: SignMethod, key: [UInt8], _ bytes: [UInt8]) -> [UInt8]? {
    guard let hash = hash(of: method), let keyCount = Int32(exactly: key.count) else { return nil }
    var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard HMAC(hash, key, keyCount, bytes, bytes.count, &result, &count) != nil else { return nil }
    return Array(result.prefix(Int(count)))
  }

  private static func hash(of method: SignMethod) -> OpaquePointer? {
    switch method {
    case .hmacMD5: EVP_md5()
    case .hmacSHA1: EVP_sha1()
    case .hmacSHA256, .sha256: EVP_sha256()
    }
  }

  /// Returns bytes as hexadecimal digits in lower case.
  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
