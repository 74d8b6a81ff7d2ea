/// The secrets that a pcapng file carries to decrypt its own frames (Decryption Secrets Block).
public struct SecretsBlock: Sendable, Equatable {
  /// The type of a TLS key log, in the format of NSS and SSLKEYLOGFILE.
  public static let tlsKeyLog: UInt32 = 0x544c_534b

  /// What kind of secrets these are.
  public let type: UInt32
  /// The secrets, in the format of their type.
  public let bytes: [UInt8]
  /// How many frames precede the block; it may well decrypt them.
  public let frame: Int
}
