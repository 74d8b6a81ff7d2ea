/// What a handshake says from its ClientHello on, of which a key of the server or a pre-shared one makes secrets: in 1.2 to
/// its ClientKeyExchange, and in 1.3 to the server's Finished.
struct TLSKeyExchange {
  /// No handshake is longer; chains of certificates are the most of it.
  private static let most = 1 << 18

  /// All messages so far, as they came.
  private var messages: [UInt8] = []
  /// How many bytes the ClientHello has.
  private var helloSize = 0
  /// What the ClientKeyExchange holds.
  private var exchanged: [UInt8]?

  /// What stands in front of the second ClientHello: a hash of the first one, and what asked for another.
  private var beforeRetry: [UInt8] = []

  /// Begins with a ClientHello.
  mutating func begin(_ hello: ArraySlice<UInt8>) {
    messages = [1] + (0..<3).map { UInt8(truncatingIfNeeded: hello.count >> (16 - 8 * $0)) }
    messages += hello
    helloSize = messages.count
    messages = beforeRetry + messages
    beforeRetry = []
    exchanged = nil
  }

  /// Takes what asks for another ClientHello, which the messages end with (RFC 8446 section 4.4.1).
  /// - Parameter hash: That of the cipher suite.
  mutating func retry(_ hash: TLSHash) {
    #if !canImport(CryptoKit)
      guard let first = hash.digest(Array(messages.prefix(helloSize))) else { return }
      let size = UInt8(truncatingIfNeeded: first.count)
      beforeRetry = [254, 0, 0, size] + first + messages.dropFirst(helloSize)
    #endif
  }

  /// Takes the content of a record with messages.
  mutating func append(_ content: [UInt8]) {
    guard exchanged == nil, messages.count + content.count <= Self.most else { return }
    messages += content
  }

  /// The ClientHello, of which early data is sent behind the first one only.
  var hello: [UInt8] { Array(messages.prefix(helloSize)) }

  /// All messages so far but for so many bytes at their end.
  func messages(without beyond: Int) -> [UInt8] { Array(messages.dropLast(beyond)) }

  /// Forgets all messages, of which no more is made.
  mutating func finish() {
    messages = []
    exchanged = []
  }

  /// Ends with the ClientKeyExchange.
  /// - Parameters:
  ///   - body: What it holds.
  ///   - beyond: How many bytes of what was appended follow it.
  mutating func end(_ body: ArraySlice<UInt8>, beyond: Int) {
    guard exchanged == nil else { return }
    exchanged = Array(body)
    messages.removeLast(min(beyond, messages.count))
  }

  /// Returns the master secret (RFC 5246 section 8.1, RFC 7627 section 4); nil where the keys do not tell it.
  func master(
    _ client: TLSHello, _ server: TLSHello, _ secrets: TLSSecrets
  ) -> [UInt8]? {
    #if canImport(CryptoKit)
      return nil
    #else
      guard let suite = server.suite, let premaster = premaster(suite, secrets) else { return nil }
      guard server.extensions.hasExtendedMasterSecret else {
        let seed = client.random + server.random
        return suite.hash.prf(premaster, "master secret", seed: seed, count: 48)
      }
      guard let seed = suite.hash.digest(messages) else { return nil }
      return suite.hash.prf(premaster, "extended master secret", seed: seed, count: 48)
    #endif
  }

  private func premaster(_ suite: TLSCipherSuite, _ secrets: TLSSecrets) -> [UInt8]? {
    guard let exchanged else { return nil }
    var fields = TLSFields(rest: exchanged[...])
    switch suite.keyExchange {
    case .rsa: return fields.prefixed(2).flatMap { secrets.serverKey?.premaster(Array($0)) }
    case .psk:
      // As many zeros as the key has bytes stand for what else there might be (RFC 4279 section 2).
      return secrets.preSharedKey.map {
        Self.prefixed([UInt8](repeating: 0, count: $0.count)) + Self.prefixed($0)
      }
    case .rsaPSK:
      // The identity stands in front (RFC 4279 section 4).
      guard let key = secrets.preSharedKey, fields.prefixed(2) != nil,
        let premaster = fields.prefixed(2).flatMap({ secrets.serverKey?.premaster(Array($0)) })
      else { return nil }
      return Self.prefixed(premaster) + Self.prefixed(key)
    case .other: return nil
    }
  }

  /// Bytes behind their length.
  private static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }
}
