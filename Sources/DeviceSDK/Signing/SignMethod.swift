/// How a device proves with its secret that it is the one.
public enum SignMethod: String, Sendable, Hashable, CaseIterable {
  /// HMAC (RFC 2104) with MD5, keyed by the secret.
  case hmacMD5 = "hmacmd5"
  /// HMAC with SHA-1, keyed by the secret.
  case hmacSHA1 = "hmacsha1"
  /// HMAC with SHA-256, keyed by the secret.
  case hmacSHA256 = "hmacsha256"
  /// SHA-256 of a text in which the secret stands, as Bluetooth devices do it.
  case sha256 = "sha256"

  /// Finds a method by its name, whatever its case; nil when there is none.
  /// - Parameter name: The name: `hmacSha256`, `sha256`.
  public init?(named name: String) { self.init(rawValue: name.lowercased()) }
}
