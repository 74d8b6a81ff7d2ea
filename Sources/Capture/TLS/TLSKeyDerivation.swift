#if !canImport(CryptoKit)
  internal import CCrypto

  // How secrets become keys.
  extension TLSHash {
    private var function: OpaquePointer? { self == .sha256 ? EVP_sha256() : EVP_sha384() }

    /// Returns the hash of bytes; nil if the system can't compute it.
    func digest(_ bytes: [UInt8]) -> [UInt8]? {
      var result = [UInt8](repeating: 0, count: size)
      var count: UInt32 = 0
      guard EVP_Digest(bytes, bytes.count, &result, &count, function, nil) == 1 else { return nil }
      return result
    }

    /// Returns what the pseudorandom function of 1.2 makes of a secret (RFC 5246 section 5).
    /// - Returns: As many bytes as asked for; nil if the system can't compute them.
    func prf(_ secret: [UInt8], _ label: String, seed: [UInt8], count: Int) -> [UInt8]? {
      let seed = Array(label.utf8) + seed
      var result: [UInt8] = []
      var chain = seed
      while result.count < count {
        guard let next = hmac(secret, chain), let block = hmac(secret, next + seed) else {
          return nil
        }
        chain = next
        result += block
      }
      return Array(result.prefix(count))
    }

    /// Returns HKDF-Extract of key material (RFC 5869 section 2.2); nil if the system can't compute it.
    func extract(salt: [UInt8], _ material: [UInt8]) -> [UInt8]? { hmac(salt, material) }

    /// Returns Derive-Secret of a secret and the messages so far (RFC 8446 section 7.1); nil if the system can't
    /// compute it.
    func derive(_ secret: [UInt8], _ label: String, _ messages: [UInt8]) -> [UInt8]? {
      digest(messages).flatMap { expand(secret, label, context: $0, count: size) }
    }

    /// Returns HKDF-Expand-Label of a secret (RFC 8446 section 7.1).
    /// - Returns: As many bytes as asked for; nil if they or the context are more than 255 or the system can't
    ///   compute them.
    func expand(
      _ secret: [UInt8], _ label: String, context: [UInt8] = [], count: Int
    ) -> [UInt8]? {
      let name = Array("tls13 \(label)".utf8)
      guard let size = UInt8(exactly: count), let nameSize = UInt8(exactly: name.count),
        let contextSize = UInt8(exactly: context.count)
      else { return nil }
      let info = [0, size, nameSize] + name + [contextSize] + context
      var result: [UInt8] = []
      var block: [UInt8] = []
      var turn: UInt8 = 1
      while result.count < count {
        guard let next = hmac(secret, block + info + [turn]) else { return nil }
        block = next
        result += block
        turn += 1
      }
      return Array(result.prefix(count))
    }

    /// Returns the secret that follows a key update (RFC 8446 section 7.2).
    func updated(_ secret: [UInt8]) -> [UInt8]? { expand(secret, "traffic upd", count: size) }

    private func hmac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8]? {
      guard let keyCount = Int32(exactly: key.count) else { return nil }
      var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
      var count: UInt32 = 0
      guard HMAC(function, key, keyCount, bytes, bytes.count, &result, &count) != nil else {
        return nil
      }
      return Array(result.prefix(Int(count)))
    }
  }
#endif
