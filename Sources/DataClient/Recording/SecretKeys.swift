import Wire

/// Which names of JSON members and user properties stand for secrets.
enum SecretKeys {
  /// Tells whether a name ends as the names of secrets do, whatever its case.
  ///
  /// Endings, because names are put together: `iotToken`, `access_token`, `deviceSecret`.
  static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let last = name.last else { return false }
    switch last | 0x20 {
    case UInt8(ascii: "n"):
      return hasEnding("token", name) || hasEnding("sign", name) || hasEnding("authorization", name)
    case UInt8(ascii: "d"):
      return hasEnding("password", name) || hasEnding("passwd", name) || hasEnding("pwd", name)
    case UInt8(ascii: "t"): return hasEnding("secret", name) || hasEnding("jwt", name)
    case UInt8(ascii: "e"):
      return hasEnding("signature", name) || hasEnding("cookie", name)
        || hasEnding("passphrase", name)
    case UInt8(ascii: "y"): return hasEnding("key", name) && isSecretKey(name)
    default: return false
    }
  }

  /// Tells which names that end in `key` are those of secrets: `apiKey`, `secret_key`; `productKey` is none.
  private static func isSecretKey(_ name: UnsafeRawBufferPointer) -> Bool {
    hasEnding("apikey", name) || hasEnding("api-key", name)
      || hasEnding("secretkey", name) || hasEnding("secret-key", name)
      || hasEnding("privatekey", name) || hasEnding("private-key", name)
      || hasEnding("accesskey", name) || hasEnding("access-key", name)
  }

  /// Tells whether a name of a secret stands anywhere in some bytes, whatever its case.
  static func stand(in bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      for end in bytes.indices {
        switch bytes[end] | 0x20 {
        case UInt8(ascii: "n"), UInt8(ascii: "d"), UInt8(ascii: "t"), UInt8(ascii: "e"),
          UInt8(ascii: "y"):
          if contain(UnsafeRawBufferPointer(rebasing: bytes[...end])) { return true }
        default: continue
        }
      }
      return false
    }
  }

  /// Tells whether a name ends so, with `_` as with `-`; from the last letter on, as most names do not.
  private static func hasEnding(_ ending: StaticString, _ name: UnsafeRawBufferPointer) -> Bool {
    let count = ending.utf8CodeUnitCount
    guard name.count >= count else { return false }
    return ending.withUTF8Buffer { ending in
      for offset in 1...count
      where ending[count - offset] != lowercased(name[name.count - offset]) { return false }
      return true
    }
  }

  @inline(__always)
  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte | 0x20
  }
}
