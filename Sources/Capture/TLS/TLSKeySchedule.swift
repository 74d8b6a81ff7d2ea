/// The secrets of 1.3 where a pre-shared key is all that they are made of: no Diffie-Hellman goes into them (`psk_ke`,
/// RFC 8446 section 4.2.9), and into those of early data in no case.
struct TLSKeySchedule {
  /// A secret of each side.
  typealias Pair = (client: [UInt8], server: [UInt8])

  private let hash: TLSHash
  /// The Early Secret (section 7.1).
  private let early: [UInt8]
  /// The Handshake Secret (section 7.1).
  private let handshake: [UInt8]

  /// Begins with the key; nil where the system can't compute what it makes.
  init?(_ key: [UInt8], _ hash: TLSHash) {
    #if canImport(CryptoKit)
      return nil
    #else
      let none = [UInt8](repeating: 0, count: hash.size)
      guard let early = hash.extract(salt: none, key), let salt = hash.derive(early, "derived", []),
        let handshake = hash.extract(salt: salt, none)
      else { return nil }
      self.hash = hash
      self.early = early
      self.handshake = handshake
    #endif
  }

  /// Returns the secret of the client's early data.
  /// - Parameter hello: The ClientHello.
  /// - Returns: The secret; nil where the system can't compute it.
  func earlySecret(_ hello: [UInt8]) -> [UInt8]? {
    #if canImport(CryptoKit)
      return nil
    #else
      return hash.derive(early, "c e traffic", hello)
    #endif
  }

  /// Returns the secrets of the handshake.
  /// - Parameter messages: Those from the ClientHello to the ServerHello.
  /// - Returns: The secrets; nil where the system can't compute them.
  func handshakeSecrets(_ messages: [UInt8]) -> Pair? {
    pair(handshake, "hs", messages)
  }

  /// Returns the secrets of what follows the handshake.
  /// - Parameter messages: Those from the ClientHello to the server's Finished.
  /// - Returns: The secrets; nil where the system can't compute them.
  func trafficSecrets(_ messages: [UInt8]) -> Pair? {
    #if canImport(CryptoKit)
      return nil
    #else
      let none = [UInt8](repeating: 0, count: hash.size)
      guard let salt = hash.derive(handshake, "derived", []),
        let main = hash.extract(salt: salt, none)
      else { return nil }
      return pair(main, "ap", messages)
    #endif
  }

  private func pair(_ secret: [UInt8], _ name: String, _ messages: [UInt8]) -> Pair? {
    #if canImport(CryptoKit)
      return nil
    #else
      guard let client = hash.derive(secret, "c \(name) traffic", messages),
        let server = hash.derive(secret, "s \(name) traffic", messages)
      else { return nil }
      return (client, server)
    #endif
  }
}
