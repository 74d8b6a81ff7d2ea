/// Why a connection that speaks TLS is not decrypted, or not any further.
enum TLSObstacle: Hashable {
  /// There are no secrets at all; with how both ends agreed on theirs, where that is known.
  case noSecrets(TLSCipherSuite.KeyExchange?)
  /// There are secrets, but none of this connection, whose key exchange may be known.
  case notAmongSecrets(TLSCipherSuite.KeyExchange?)
  /// There are secrets of this connection, but not these, which its data is encrypted by.
  case partOfSecrets(missing: [TLSKeyLog.Label])
  /// There are secrets of this connection by name, but they do not decrypt it.
  case wrongSecrets
  /// The server's key or the pre-shared one that is given makes secrets, but they do not decrypt it.
  case wrongKey
  /// There is a key of a server or a pre-shared one, but no key tells the secrets of the cipher suite.
  case ephemeral(TLSCipherSuite)
  /// There is one of two keys that tell the secrets of the cipher suite together.
  case halfOfKeys(TLSCipherSuite)
  /// The cipher suite is none that is decrypted here.
  case suite(TLSCipherSuite)
  /// The version is none that is decrypted here.
  case version
  case compression
  /// The hellos are not in the capture, or not whole.
  case noHandshake
  /// The connection ended, or the capture did, before its handshake did.
  case unfinished
  /// After a loss no record was found that could be decrypted.
  case lostTrack
  /// What follows is no record of TLS.
  case notTLS
  /// The server answers the client's hello with no record of TLS.
  case plainAnswer

  /// What is said of connections, behind what they spoke.
  var text: String {
    switch self {
    case .noSecrets: "can't be read without keys"
    case .notAmongSecrets: "can't be read: no key that is given belongs to it"
    case .partOfSecrets(let missing):
      missing.count == 1
        ? "can be read of one side only: its keys that are given lack \(Self.list(missing))"
        : "can't be read: its keys that are given lack \(Self.list(missing))"
    case .wrongSecrets: "can't be read: what is given as its keys does not decrypt it"
    case .wrongKey: "can't be read: the key that is given does not decrypt it"
    case .ephemeral(let suite):
      "can't be read by the key that is given: no such key tells the secrets of \(suite.name)"
    case .halfOfKeys(let suite):
      "can't be read by one key: \(suite.name) takes the server's and the pre-shared one"
    case .suite(let suite): "can't be read: \(suite.name) is not decrypted"
    case .version: "can't be read: only TLS 1.2 and 1.3 are decrypted"
    case .compression: "can't be read: compression is not undone"
    case .noHandshake: "can't be read: the handshake is not whole in the capture"
    case .unfinished: "ended within the handshake"
    case .lostTrack: "can't be read to the end: too much is missing from the capture"
    case .notTLS: "can't be read to the end: what follows is no record of TLS"
    case .plainAnswer: "can't be read: the server answers without TLS"
    }
  }

  /// What the user can do about it, as an imperative phrase; nil where nothing helps.
  var remedy: String? {
    switch self {
    case .noSecrets(let exchange):
      "give the key log that the client or the server wrote (SSLKEYLOGFILE) by --keylog FILE"
        + Self.otherKeys(exchange)
    case .ephemeral: "give a key log by --keylog FILE"
    case .halfOfKeys: "give both: --server-key PEM --psk HEX"
    case .partOfSecrets: "give all of the key log of that very session"
    case .notAmongSecrets(let exchange):
      "give the key log of that very session" + Self.otherKeys(exchange)
    case .wrongSecrets: "give the key log of that very session"
    case .wrongKey: "give the key that was in use then by --server-key or --psk, or a key log"
    case .noHandshake: "start the capture before the connection, and take it with -s 0"
    case .plainAnswer: "connect to a port where the server speaks TLS, or without it"
    case .suite, .version, .compression, .unfinished, .lostTrack, .notTLS: nil
    }
  }

  /// What gives the secrets as a key log does.
  private static func otherKeys(_ exchange: TLSCipherSuite.KeyExchange?) -> String {
    switch exchange {
    case .rsa: ", or the server's private key by --server-key PEM"
    case .psk: ", or the pre-shared key by --psk HEX"
    case .rsaPSK: ", or both of its keys by --server-key PEM --psk HEX"
    case .other, nil: ""
    }
  }

  private static func list(_ labels: [TLSKeyLog.Label]) -> String {
    labels.map(\.rawValue).joined(separator: " and ")
  }
}
