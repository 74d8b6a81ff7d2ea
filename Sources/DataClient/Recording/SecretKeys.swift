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
    case UInt8(ascii: "d"): return hasEnding("password", name) || hasEnding("passwd", name)
    case UInt8(ascii: "t"): return hasEnding("secret", name)
    case UInt8(ascii: "e"): return hasEnding("signature", name) || hasEnding("cookie", name)
    case UInt8(ascii: "y"): return hasEnding("apikey", name) || hasEnding("api-key", name)
    default: return false
    }
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

  /// Tells whether a name ends so; from the last letter on, as most names do not.
  private static func hasEnding(_ ending: StaticString, _ name: UnsafeRawBufferPointer) -> Bool {
    let count = ending.utf8CodeUnitCount
    guard name.count >= count else { return false }
    return ending.withUTF8Buffer { ending in
      for offset in 1...count
      where ending[count - offset] != name[name.count - offset] | 0x20 {
        return false
      }
      return true
    }
  }
}
