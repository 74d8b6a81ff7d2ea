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

/// The secrets that a reader has found in its file so far; who decrypts asks it for them.
final class EmbeddedSecrets {
  /// The most bytes that are kept.
  static let mostBytes = 8 << 20

  private(set) var blocks: [SecretsBlock] = []
  private var size = 0
  /// How many blocks were not kept, because they are too many or damaged.
  var dropped = 0

  /// Keeps a block, if there is room.
  func add(_ block: SecretsBlock) {
    guard size + block.bytes.count <= Self.mostBytes else {
      dropped += 1
      return
    }
    size += block.bytes.count
    blocks.append(block)
  }

  /// Reads the blocks of a whole file, wherever they stand; none if it can't be read.
  static func all(in path: String) -> [SecretsBlock] {
    guard var reader = try? CaptureReader(path: path) else { return [] }
    while (try? reader.next()) != nil {}
    return reader.secrets
  }
}
