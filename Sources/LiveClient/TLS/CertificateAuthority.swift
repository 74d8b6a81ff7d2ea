import CTLS
import Glibc
package import RepriseCore

/// A certificate authority of the user's own, which vouches for the names that clients ask a proxy for.
///
/// It is made once, in a folder that only the user may read. It belongs to one thread.
package final class CertificateAuthority {
  /// Its certificate, as PEM.
  package let certificate: [UInt8]
  /// Whether it was made just now.
  package let isNew: Bool
  private let issuer: OpaquePointer
  private let issuerKey: OpaquePointer

  /// The files in the folder.
  package static let certificateName = "ca.pem"
  private static let keyName = "ca.key"

  /// The folder that is used where none is named: `reprise/ca` where programs keep what is the user's.
  /// - Parameter environment: What a variable of the environment is; nil where it is not set.
  /// - Returns: The path; nil where there is no home.
  package static func usualFolder(_ environment: (String) -> String?) -> String? {
    // The specification of XDG's base directories: paths that are not absolute are not taken.
    if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") { return "\(data)/reprise/ca" }
    return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/share/reprise/ca" : nil }
  }

  /// Opens the authority of a folder, which is made, both of them, where there is none.
  /// - Parameter folder: The folder.
  /// - Throws: ``DataClientError`` when the files are not what they should be, or can't be made.
  package init(in folder: String) throws(DataClientError) {
    let (path, keyPath) = ("\(folder)/\(Self.certificateName)", "\(folder)/\(Self.keyName)")
    isNew = access(path, F_OK) != 0 && access(keyPath, F_OK) != 0
    if isNew { try Self.make(in: folder, path, keyPath) }
    certificate = try PrivateFile.read(path)
    var key = try PrivateFile.read(keyPath)
    defer { for index in key.indices { key[index] = 0 } }
    guard let issuer = PEM.certificate(certificate) else { throw Self.broken(path) }
    guard let issuerKey = PEM.key(key), X509_check_private_key(issuer, issuerKey) == 1 else {
      X509_free(issuer)
      throw Self.broken(keyPath)
    }
    self.issuer = issuer
    self.issuerKey = issuerKey
  }

  deinit {
    X509_free(issuer)
    EVP_PKEY_free(issuerKey)
  }

  private static func broken(_ path: String) -> DataClientError {
    DataClientError(
      .unreadable,
      "\(path): this is not what a certificate authority of reprise has there; "
        + "name another folder by --ca-folder, or delete this one, and have clients trust a new one"
    )
  }

  private static func make(
    in folder: String, _ path: String, _ keyPath: String
  ) throws(DataClientError) {
    try PrivateFile.makeFolder(folder)
    TLSError.clear()
    guard let key = ctls_make_key() else { throw TLSError.failure("no key can be made") }
    defer { EVP_PKEY_free(key) }
    guard let certificate = ctls_make_authority(key, "reprise, for tests of \(PrivateFile.user)")
    else { throw TLSError.failure("no certificate can be made") }
    defer { X509_free(certificate) }
    // The key first: a certificate without one is worth nothing.
    try PrivateFile.write(PEM.bytes(key: key), to: keyPath)
    try PrivateFile.write(PEM.bytes(certificate: certificate), to: path)
  }

  /// The SHA-256 fingerprint of the certificate, in hexadecimal digits with colons.
  package var fingerprint: String {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard X509_digest(issuer, EVP_sha256(), &bytes, &count) == 1 else { return "" }
    let digits = Array("0123456789ABCDEF".utf8)
    let pairs = bytes.map {
      String(decoding: [digits[Int($0 >> 4)], digits[Int($0 & 15)]], as: UTF8.self)
    }
    return pairs.joined(separator: ":")
  }

  /// Issues a certificate.
  /// - Parameters:
  ///   - name: A host name of letters, digits, hyphens, underscores and dots, or an address.
  ///   - isAddress: Whether it is an address.
  ///   - key: The key that it is for.
  /// - Returns: The certificate, which the caller frees; nil for another name.
  func issue(_ name: String, isAddress: Bool, key: OpaquePointer) -> OpaquePointer? {
    // It goes into a line of a configuration, where other characters have a meaning.
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: byte == UInt8(ascii: ":") && isAddress
      }
    }
    guard isPlain, !name.isEmpty else { return nil }
    TLSError.clear()
    return ctls_issue("\(isAddress ? "IP" : "DNS"):\(name)", key, issuer, issuerKey)
  }
}
