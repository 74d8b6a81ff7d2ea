/// The ciphers that secrets become.
enum TLSKeys {
  /// Makes the cipher of one direction of 1.3 (RFC 8446 section 7.3); nil if the suite is none of 1.3.
  static func cipher(secret: [UInt8], _ suite: TLSCipherSuite) -> (any TLSRecordCipher)? {
    #if canImport(CryptoKit)
      return nil
    #else
      guard case .authenticated(let aead) = suite.protection, secret.count == suite.hash.size,
        let key = suite.hash.expand(secret, "key", count: aead.keySize),
        let iv = suite.hash.expand(secret, "iv", count: 12)
      else { return nil }
      return TLSAEADCipher(aead, key: key, iv: iv, isTLS13: true)
    #endif
  }

  /// Returns the secret that follows an update of keys; nil where the system can't compute it.
  static func updated(_ secret: [UInt8], _ suite: TLSCipherSuite) -> [UInt8]? {
    #if canImport(CryptoKit)
      return nil
    #else
      return suite.hash.updated(secret)
    #endif
  }

  /// Makes the ciphers of both directions of 1.2 (RFC 5246 section 6.3).
  /// - Returns: That of the client, and that of the server; nil if the suite's protection can't be undone.
  static func ciphers(
    master: [UInt8], client: TLSHello, server: TLSHello
  ) -> (client: any TLSRecordCipher, server: any TLSRecordCipher)? {
    #if canImport(CryptoKit)
      return nil
    #else
      guard let suite = server.suite, let protection = suite.protection else { return nil }
      let (macSize, keySize, ivSize) = sizes(protection)
      let seed = server.random + client.random
      let count = 2 * (macSize + keySize + ivSize)
      guard let block = suite.hash.prf(master, "key expansion", seed: seed, count: count) else {
        return nil
      }
      var fields = TLSFields(rest: block[...])
      guard let macs = pair(macSize), let keys = pair(keySize), let ivs = pair(ivSize) else {
        return nil
      }
      func pair(_ size: Int) -> ([UInt8], [UInt8])? {
        guard let first = fields.bytes(size), let second = fields.bytes(size) else { return nil }
        return (Array(first), Array(second))
      }
      func cipher(_ mac: [UInt8], _ key: [UInt8], _ iv: [UInt8]) -> (any TLSRecordCipher)? {
        switch protection {
        case .authenticated(let aead): TLSAEADCipher(aead, key: key, iv: iv, isTLS13: false)
        case .block(_, let digest), .null(let digest):
          TLSBlockCipher(
            key: key, digest, macKey: mac, encryptsThenMACs: server.extensions.encryptsThenMACs)
        }
      }
      guard let first = cipher(macs.0, keys.0, ivs.0), let second = cipher(macs.1, keys.1, ivs.1)
      else { return nil }
      return (first, second)
    #endif
  }

  private static func sizes(
    _ protection: TLSCipherSuite.Protection
  ) -> (mac: Int, key: Int, iv: Int) {
    switch protection {
    case .authenticated(let aead): (0, aead.keySize, aead == .chaCha20Poly1305 ? 12 : 4)
    // Records of 1.2 bring their IVs.
    case .block(let keySize, let digest): (digest.size, keySize, 0)
    case .null(let digest): (digest.size, 0, 0)
    }
  }
}
