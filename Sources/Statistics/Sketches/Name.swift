import Wire

/// The name of a topic or a client, in memory that does not grow with its length.
///
/// Names are told apart by 64 bits of a keyed hash of all their bytes: that two of a million are taken for one has a
/// chance below one in ten million. Of a long one the start is kept, to be shown.
package struct Name: Sendable, Hashable {
  /// The most bytes of a name that are kept.
  static let longest = 256

  /// The hash by which it is told apart.
  let identity: UInt64
  /// The start of its UTF-8.
  package let start: [UInt8]
  /// Whether it is longer than ``start``.
  package let isCut: Bool

  /// Takes a name.
  /// - Parameter bytes: Its bytes.
  package init(_ bytes: RawSpan) { self.init(bytes, identity: Self.identity(of: bytes)) }

  init(_ bytes: RawSpan, identity: UInt64) {
    self.identity = identity
    start = Array(copying: bytes.extracting(first: Self.longest))
    isCut = bytes.byteCount > Self.longest
  }

  /// Returns the hash of a name.
  static func identity(of bytes: RawSpan) -> UInt64 {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Returns the hash of two texts, one behind the other.
  static func identity(of first: RawSpan, _ second: RawSpan) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(first.byteCount)
    first.withUnsafeBytes { hasher.combine(bytes: $0) }
    second.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  package static func == (lhs: Name, rhs: Name) -> Bool { lhs.identity == rhs.identity }

  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
