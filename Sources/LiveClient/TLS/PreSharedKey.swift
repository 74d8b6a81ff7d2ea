import RepriseCore

/// A key that a client and its server both have, by which they know each other without certificates (RFC 4279,
/// RFC 8446 section 2.2).
///
/// It is shown as its identity alone wherever values are shown.
public struct PreSharedKey: Sendable, Hashable {
  /// Whose key it is, as the server knows it; it goes over the network in the clear.
  public var identity: String
  /// The key.
  public var key: [UInt8]

  /// The most bytes of an identity that every end takes (RFC 4279 section 5.3).
  public static let mostIdentityBytes = 128
  /// The most bytes of a key that OpenSSL takes in all its versions.
  public static let mostKeyBytes = 256

  /// Creates a key.
  /// - Parameters:
  ///   - identity: Whose key it is.
  ///   - key: The key.
  public init(identity: String, key: [UInt8]) {
    self.identity = identity
    self.key = key
  }

  /// The key as libmosquitto takes it.
  var digits: String {
    key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Checks that both can be sent.
  /// - Throws: ``DataClientError`` that says which of them can't.
  func check() throws(DataClientError) {
    guard (1...Self.mostIdentityBytes).contains(identity.utf8.count), !identity.utf8.contains(0)
    else {
      throw DataClientError(
        .invalidAction,
        "the identity of a pre-shared key has 1 to \(Self.mostIdentityBytes) bytes, none of them 0")
    }
    guard (1...Self.mostKeyBytes).contains(key.count) else {
      throw DataClientError(
        .invalidAction, "a pre-shared key has 1 to \(Self.mostKeyBytes) bytes")
    }
  }
}

extension PreSharedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The identity, without the key.
  public var description: String { "the pre-shared key of \(identity)" }

  /// The identity, without the key.
  public var debugDescription: String { description }

  /// What debuggers and `dump` show: the identity alone.
  public var customMirror: Mirror { Mirror(self, children: ["identity": identity]) }
}
