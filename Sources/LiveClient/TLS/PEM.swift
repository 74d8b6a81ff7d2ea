import CTLS

/// Keys and certificates as text (RFC 7468).
enum PEM {
  /// Reads a certificate; nil where there is none.
  static func certificate(_ bytes: [UInt8]) -> OpaquePointer? {
    read(bytes) { PEM_read_bio_X509($0, nil, nil, nil) }
  }

  /// Reads a key without a password; nil where there is none.
  static func key(_ bytes: [UInt8]) -> OpaquePointer? {
    // With a password of its own OpenSSL does not ask the terminal for one.
    var none: [CChar] = [0]
    return none.withUnsafeMutableBytes { none in
      read(bytes) { PEM_read_bio_PrivateKey($0, nil, nil, none.baseAddress) }
    }
  }

  private static func read(
    _ bytes: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?
  ) -> OpaquePointer? {
    TLSError.clear()
    return bytes.withUnsafeBytes { bytes in
      guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
        return nil
      }
      defer { BIO_free(memory) }
      return body(memory)
    }
  }

  /// Writes a certificate; nothing when that fails.
  static func bytes(certificate: OpaquePointer) -> [UInt8] {
    write { PEM_write_bio_X509($0, certificate) }
  }

  /// Writes a key; nothing when that fails.
  static func bytes(key: OpaquePointer) -> [UInt8] {
    write { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  private static func write(_ body: (OpaquePointer) -> Int32) -> [UInt8] {
    guard let memory = BIO_new(BIO_s_mem()) else { return [] }
    defer { BIO_free(memory) }
    guard body(memory) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
    let count = BIO_read(memory, &bytes, Int32(clamping: bytes.count))
    return Array(bytes.prefix(max(0, Int(count))))
  }
}
