import Glibc
import RepriseCore

/// Which servers a live client trusts, and how it shows who it is, when it speaks TLS.
public struct TLSOptions: Sendable, Hashable {
  /// A file with the certificates of the authorities to trust, PEM; nil trusts those of the system.
  public var authorityFile: String?
  /// A directory with such certificates, named by their hash.
  public var authorityDirectory: String?
  /// A file with the client's own certificate, PEM.
  public var certificateFile: String?
  /// A file with the key of the client's own certificate, PEM, without a password.
  public var keyFile: String?
  /// Whether the server's certificate must come from an authority that is trusted.
  public var verifiesCertificate: Bool
  /// Whether the server's certificate must be for the host that was asked for.
  public var verifiesHostName: Bool
  /// A key by which client and server know each other instead of certificates.
  ///
  /// ``MosquittoClient`` takes it, and clients by WebSocket do not. With it there is nothing to trust and no
  /// certificate to show.
  public var preSharedKey: PreSharedKey?

  /// Creates options.
  /// - Parameters:
  ///   - authorityFile: A file with the certificates of the authorities to trust.
  ///   - authorityDirectory: A directory with such certificates.
  ///   - certificateFile: A file with the client's own certificate.
  ///   - keyFile: A file with its key.
  ///   - verifiesCertificate: Whether the server's certificate must be trusted.
  ///   - verifiesHostName: Whether it must be for the host that was asked for.
  ///   - preSharedKey: A key by which client and server know each other instead.
  public init(
    authorityFile: String? = nil, authorityDirectory: String? = nil,
    certificateFile: String? = nil, keyFile: String? = nil,
    verifiesCertificate: Bool = true, verifiesHostName: Bool = true,
    preSharedKey: PreSharedKey? = nil
  ) {
    self.authorityFile = authorityFile
    self.authorityDirectory = authorityDirectory
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.verifiesCertificate = verifiesCertificate
    self.verifiesHostName = verifiesHostName
    self.preSharedKey = preSharedKey
  }
}

extension TLSOptions {
  /// Checks that the files can be read, and that they are enough.
  /// - Parameter takesSharedKey: Whether the client can do with a pre-shared key.
  /// - Throws: ``DataClientError`` that names the file.
  func check(takesSharedKey: Bool = false) throws(DataClientError) {
    if let preSharedKey {
      guard takesSharedKey else {
        throw DataClientError(
          .unsupported, "a pre-shared key is for MQTT over TLS; without it, by a certificate")
      }
      guard [authorityFile, authorityDirectory, certificateFile, keyFile] == [nil, nil, nil, nil]
      else {
        throw DataClientError(
          .invalidAction, "a pre-shared key takes the place of certificates; give one of the two")
      }
      return try preSharedKey.check()
    }
    for path in [authorityFile, authorityDirectory, certificateFile, keyFile] {
      guard let path, access(path, R_OK) != 0 else { continue }
      throw DataClientError(.unreadable, "\(path): \(systemText(errno))")
    }
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw DataClientError(
        .unreadable, "a client certificate needs its key, and the other way round")
    }
    guard certificateFile == nil || authorityFile != nil || authorityDirectory != nil else {
      throw DataClientError(
        .unreadable, "libmosquitto takes a client certificate only with the authorities to trust")
    }
  }
}
