#if !canImport(CryptoKit)
  internal import CCrypto
#endif

/// The private RSA key of a server, which undoes what clients encrypt by its certificate.
final class TLSServerKey {
  /// The most bytes of a file with a key.
  private static let mostBytes = 1 << 16

  #if !canImport(CryptoKit)
    private let key: OpaquePointer

    deinit { EVP_PKEY_free(key) }
  #endif

  /// Reads a key from a file in PEM format.
  /// - Throws: ``CaptureError`` if the file can't be read, or holds no RSA key that needs no passphrase.
  init(_ path: String) throws(CaptureError) {
    let bytes = try TLSKeyLogFile(path).read()
    #if canImport(CryptoKit)
      throw CaptureError(.invalidKey, "keys of servers are not read on this system").inFile(path)
    #else
      let made = bytes.count > Self.mostBytes ? nil : Self.key(bytes)
      guard let made else {
        throw CaptureError(
          .invalidKey, "this is no private key in PEM format, or it needs a passphrase",
          remedy: "write it anew by openssl pkey -in KEY -out FILE"
        ).inFile(path)
      }
      guard EVP_PKEY_get_base_id(made) == EVP_PKEY_RSA else {
        EVP_PKEY_free(made)
        throw CaptureError(
          .invalidKey, "this is no RSA key, and only with those keys tell what was encrypted",
          remedy: "give a key log by --keylog FILE"
        ).inFile(path)
      }
      key = made
    #endif
  }

  #if !canImport(CryptoKit)
    private static func key(_ bytes: [UInt8]) -> OpaquePointer? {
      guard let source = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(source) }
      // A key behind a passphrase is not read: there is no one to ask for it.
      return PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in 0 }, nil)
    }
  #endif

  /// Returns the premaster secret that a client sent (RFC 5246 section 7.4.7.1); nil if it was encrypted for another key.
  func premaster(_ encrypted: [UInt8]) -> [UInt8]? {
    #if canImport(CryptoKit)
      return nil
    #else
      guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
      defer { EVP_PKEY_CTX_free(context) }
      guard EVP_PKEY_decrypt_init(context) == 1,
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
      else { return nil }
      var secret = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
      var count = secret.count
      guard EVP_PKEY_decrypt(context, &secret, &count, encrypted, encrypted.count) == 1,
        count == 48
      else { return nil }
      return Array(secret.prefix(count))
    #endif
  }
}
