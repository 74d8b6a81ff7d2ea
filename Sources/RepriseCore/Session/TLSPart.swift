/// What shows of TLS on a connection, whether it is decrypted or not.
public indirect enum TLSPart: Sendable, Hashable {
  /// The hellos: what the client offered, and what the server chose of it, if it answered.
  case handshake(TLSHellos)
  /// The sender told of an end or an error (RFC 8446 section 6).
  case alert(TLSAlert)

  /// The name of the event in capitals.
  public var name: StaticString {
    switch self {
    case .handshake: "TLS"
    case .alert: "ALERT"
    }
  }
}

/// What the hellos of a connection say in the clear (RFC 8446 section 4.1), and whether it was decrypted.
public struct TLSHellos: Sendable, Hashable {
  /// The addresses and ports of both ends, as text.
  public var client: String
  /// The server's address and port, as text.
  public var server: String
  /// The version, such as `TLS 1.3`: that which the server chose, or the highest of the client's.
  public var version: String?
  /// The name of the cipher suite in IANA's registry; nil if the server did not answer.
  public var cipherSuite: String?
  /// The server that the client asked for by name (SNI, RFC 6066 section 3); empty if it is no host name.
  public var serverName: String?
  /// The protocols that the client offered (ALPN, RFC 7301).
  public var protocols: [String]
  /// The protocol that the server chose of them, where it says so in the clear.
  public var chosenProtocol: String?
  /// Why the connection was not decrypted, or not to its end; nil if it was.
  public var obstacle: String?
  /// What helps against that, as an imperative phrase.
  public var remedy: String?

  /// Creates what two hellos say.
  public init(
    client: String, server: String, version: String? = nil, cipherSuite: String? = nil,
    serverName: String? = nil, protocols: [String] = [], chosenProtocol: String? = nil,
    obstacle: String? = nil, remedy: String? = nil
  ) {
    self.client = client
    self.server = server
    self.version = version
    self.cipherSuite = cipherSuite
    self.serverName = serverName
    self.protocols = protocols
    self.chosenProtocol = chosenProtocol
    self.obstacle = obstacle
    self.remedy = remedy
  }
}

/// An alert (RFC 8446 section 6).
public struct TLSAlert: Sendable, Hashable {
  /// Whether the sender calls it fatal.
  public var isFatal: Bool
  /// Its number in IANA's registry.
  public var code: UInt8

  /// Creates an alert.
  public init(isFatal: Bool, code: UInt8) {
    self.isFatal = isFatal
    self.code = code
  }

  /// Its name in the registry; nil if it has none.
  public var name: String? { Self.meanings[code]?.name }

  /// What it means, as a phrase.
  public var meaning: String { Self.meanings[code]?.text ?? "what it means is not known" }

  private static let meanings: [UInt8: (name: String, text: String)] = [
    0: ("close_notify", "no more data will come"),
    10: ("unexpected_message", "a message came at the wrong time"),
    20: ("bad_record_mac", "a record is damaged, or its key is wrong"),
    21: ("decryption_failed", "a record can't be decrypted"),
    22: ("record_overflow", "a record is longer than any may be"),
    30: ("decompression_failure", "a record can't be inflated"),
    40: ("handshake_failure", "the other end offers nothing that this one accepts"),
    41: ("no_certificate", "there is no certificate to show"),
    42: ("bad_certificate", "the certificate is damaged or its signature is wrong"),
    43: ("unsupported_certificate", "the certificate is of a kind that is not supported"),
    44: ("certificate_revoked", "the certificate was revoked"),
    45: ("certificate_expired", "the certificate has expired or is not valid yet"),
    46: ("certificate_unknown", "the certificate is not accepted for another reason"),
    47: ("illegal_parameter", "a field of the handshake is wrong"),
    48: ("unknown_ca", "the certificate is of an authority that is not trusted"),
    49: ("access_denied", "the certificate is valid, but access is denied"),
    50: ("decode_error", "a message can't be decoded"),
    51: ("decrypt_error", "a signature or the end of the handshake can't be verified"),
    60: ("export_restriction", "keys are longer than export rules of old allow"),
    70: ("protocol_version", "the version is not supported"),
    71: ("insufficient_security", "the ciphers that are offered are not secure enough"),
    80: ("internal_error", "the sender failed for a reason of its own"),
    86: ("inappropriate_fallback", "the client offers less than it could"),
    90: ("user_canceled", "the user gave the handshake up"),
    100: ("no_renegotiation", "there will be no new handshake"),
    109: ("missing_extension", "the handshake lacks an extension that it must have"),
    110: ("unsupported_extension", "an extension came that was not asked for"),
    112: ("unrecognized_name", "the server is not the one that is asked for by name"),
    113: ("bad_certificate_status_response", "what was sent of the certificate's status is wrong"),
    115: ("unknown_psk_identity", "the identity of the pre-shared key is not known"),
    116: ("certificate_required", "the client has to show a certificate"),
    120: ("no_application_protocol", "the server speaks none of the protocols that are offered"),
  ]
}
