// What the system's cryptography computes.
#if canImport(CryptoKit)
  internal import CryptoKit
  internal import Foundation

  enum Digest {
    /// Returns the SHA-256 of bytes (FIPS 180-4); nil where the system has none.
    static func sha256(_ bytes: [UInt8]) -> [UInt8]? { Array(SHA256.hash(data: bytes)) }

    /// Returns the HMAC of bytes (RFC 2104); nil where the system does not have the hash.
    static func hmac(_ method: SignMethod, key: [UInt8], _ bytes: [UInt8]) -> [UInt8]? {
      let key = SymmetricKey(data: key)
      return switch method {
      case .hmacMD5: Array(HMAC<Insecure.MD5>.authenticationCode(for: bytes, using: key))
      case .hmacSHA1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
      case .hmacSHA256, .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
      }
    }
  }
#else
  internal import CCrypto

  enum Digest {
    /// Returns the SHA-256 of bytes (FIPS 180-4); nil where the system has none.
    static func sha256(_ bytes: [UInt8]) -> [UInt8]? {
      var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
      var count: UInt32 = 0
      guard EVP_Digest(bytes, bytes.count, &result, &count, EVP_sha256(), nil) == 1 else {
        return nil
      }
      return Array(result.prefix(Int(count)))
    }

    /// Returns the HMAC of bytes (RFC 2104); nil where the system does not have the hash, as where MD5 is forbidden.
    static func hmac(_ method: SignMethod, key: [UInt8], _ bytes: [UInt8]) -> [UInt8]? {
      guard let hash = hash(of: method), let keyCount = Int32(exactly: key.count) else {
        return nil
      }
      var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
      var count: UInt32 = 0
      guard HMAC(hash, key, keyCount, bytes, bytes.count, &result, &count) != nil else {
        return nil
      }
      return Array(result.prefix(Int(count)))
    }

    private static func hash(of method: SignMethod) -> OpaquePointer? {
      switch method {
      case .hmacMD5: EVP_md5()
      case .hmacSHA1: EVP_sha1()
      case .hmacSHA256, .sha256: EVP_sha256()
      }
    }
  }
#endif

extension Digest {
  /// Returns bytes as hexadecimal digits in lower case.
  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
