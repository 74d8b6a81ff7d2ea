internal import RepriseCore

// What stands for secrets: the mark in recordings, and as many stars as the secret had bytes in captures.
extension RawSpan {
  /// Whether the bytes are nothing but what stands for a secret.
  var isHidden: Bool {
    byteCount >= RedactionRules.mark.utf8.count
      && withUnsafeBytes { $0.allSatisfy { $0 == UInt8(ascii: "*") } }
  }

  /// Whether a part of the bytes stands for a secret.
  var holdsHidden: Bool {
    withUnsafeBytes { bytes in
      var stars = 0
      for byte in bytes {
        stars = byte == UInt8(ascii: "*") ? stars + 1 : 0
        if stars == RedactionRules.mark.utf8.count { return true }
      }
      return false
    }
  }
}
