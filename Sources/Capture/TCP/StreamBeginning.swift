/// The first bytes of a stream, as far as one more copy of them is to be known again.
struct StreamBeginning {
  /// The most bytes of it that count.
  private static let most = 64

  private var count: UInt8 = 0
  private var digest: UInt32 = 0

  /// Creates the beginning of a stream of which nothing is known.
  init() {}

  /// Creates the beginning of a stream from the bytes of its first segment.
  init(_ bytes: RawSpan) {
    count = UInt8(min(bytes.byteCount, Self.most))
    digest = Self.digest(bytes, Int(count))
  }

  /// Tells whether bytes from the start of a stream on are others; fewer of them say nothing.
  func contradicts(_ bytes: RawSpan) -> Bool {
    count > 0 && bytes.byteCount >= Int(count) && Self.digest(bytes, Int(count)) != digest
  }

  /// A checksum of some bytes (FNV-1a).
  private static func digest(_ bytes: RawSpan, _ count: Int) -> UInt32 {
    var digest: UInt32 = 0x811C_9DC5
    for index in 0..<count {
      digest ^= UInt32(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
      digest &*= 0x0100_0193
    }
    return digest
  }
}
