// The system's cryptography, for the one thing that the opening handshake needs of it.
#if canImport(CryptoKit)
  internal import CryptoKit
  internal import Foundation

  enum WebSocketDigest {
    /// Returns the SHA-1 of bytes (FIPS 180-4); nil where the system has none.
    static func sha1(_ bytes: [UInt8]) -> [UInt8]? { Array(Insecure.SHA1.hash(data: bytes)) }

    /// Returns the base64 of bytes (RFC 4648 section 4), in one line.
    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
  }
#else
  internal import CCrypto

  enum WebSocketDigest {
    /// Returns the SHA-1 of bytes (FIPS 180-4); nil where the system has none.
    static func sha1(_ bytes: [UInt8]) -> [UInt8]? {
      var digest = [UInt8](repeating: 0, count: 20)
      return EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 ? digest : nil
    }

    /// Returns the base64 of bytes (RFC 4648 section 4), in one line.
    static func base64(_ bytes: [UInt8]) -> String {
      // Four characters for three bytes, and a NUL that C wants.
      var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
      let count = EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
      return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
  }
#endif
