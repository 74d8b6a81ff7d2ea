#if !canImport(CryptoKit)
  internal import CCrypto
  import Wire

  /// What undoes AES in CBC mode with an HMAC in either order, or no encryption with an HMAC, of 1.2 (RFC 5246
  /// section 6.2.3, RFC 7366).
  final class TLSBlockCipher: TLSRecordCipher {
    private static let blockSize = 16

    private let digest: TLSDigest
    private let macKey: [UInt8]
    /// Whether the HMAC is of what is encrypted; else it is encrypted itself.
    private let encryptsThenMACs: Bool
    /// Nil where nothing is encrypted.
    private let context: OpaquePointer?

    /// Makes a cipher; nil if a size is wrong or the system does not have the algorithm.
    ///
    /// - Parameters:
    ///   - key: 16 or 32 bytes for AES; none for no encryption.
    ///   - digest: The hash of the HMAC.
    ///   - macKey: As many bytes as the digest has.
    ///   - encryptsThenMACs: Whether the HMAC is of what is encrypted.
    init?(key: [UInt8], _ digest: TLSDigest, macKey: [UInt8], encryptsThenMACs: Bool) {
      guard macKey.count == digest.size, [0, 16, 32].contains(key.count) else { return nil }
      self.digest = digest
      self.macKey = macKey
      self.encryptsThenMACs = encryptsThenMACs && !key.isEmpty
      guard !key.isEmpty else {
        context = nil
        return
      }
      guard let context = EVP_CIPHER_CTX_new() else { return nil }
      self.context = context
      let cipher = key.count == 16 ? EVP_aes_128_cbc() : EVP_aes_256_cbc()
      guard EVP_DecryptInit_ex(context, cipher, nil, key, nil) == 1 else { return nil }
    }

    deinit { if let context { EVP_CIPHER_CTX_free(context) } }

    var overhead: Int? { context == nil ? digest.size : nil }

    func open(_ record: RawSpan, sequence: UInt64, into plain: inout [UInt8]) -> Int? {
      let fragment = record.clamped(TLSRecord.headerSize, record.byteCount)
      guard plain.count >= fragment.byteCount + Self.blockSize else { return nil }
      guard encryptsThenMACs else {
        let content =
          context == nil ? copy(fragment, into: &plain) : decrypt(fragment, into: &plain)
        guard let content, content >= digest.size else { return nil }
        let count = content - digest.size
        let mac = Array(plain[count..<content])
        let head = additional(record, sequence: sequence, count: count)
        return hmac(head + plain[..<count]) == mac ? count : nil
      }
      let count = fragment.byteCount - digest.size
      guard count >= 2 * Self.blockSize else { return nil }
      let sealed = fragment.clamped(0, count)
      let mac = Array(copying: fragment.clamped(count, fragment.byteCount))
      let head = additional(record, sequence: sequence, count: count)
      guard hmac(head + Array(copying: sealed)) == mac else { return nil }
      return decrypt(sealed, into: &plain)
    }

    private func copy(_ bytes: RawSpan, into plain: inout [UInt8]) -> Int? {
      for place in 0..<bytes.byteCount { plain[place] = bytes.uint8(at: place) ?? 0 }
      return bytes.byteCount
    }

    /// Decrypts what follows its IV, and takes the padding off.
    private func decrypt(_ bytes: RawSpan, into plain: inout [UInt8]) -> Int? {
      let count = bytes.byteCount - Self.blockSize
      guard let context, count > 0, count.isMultiple(of: Self.blockSize) else { return nil }
      var length: Int32 = 0
      let isDecrypted = bytes.withUnsafeBytes { bytes in
        let bytes = bytes.bindMemory(to: UInt8.self)
        guard let iv = bytes.baseAddress,
          EVP_DecryptInit_ex(context, nil, nil, nil, iv) == 1,
          EVP_CIPHER_CTX_set_padding(context, 0) == 1
        else { return false }
        let size = Int32(clamping: count)
        return EVP_DecryptUpdate(context, &plain, &length, iv + Self.blockSize, size) == 1
      }
      guard isDecrypted, Int(length) == count else { return nil }
      let padding = Int(plain[count - 1])
      guard padding < count,
        plain[(count - 1 - padding)..<count].allSatisfy({ Int($0) == padding })
      else { return nil }
      return count - 1 - padding
    }

    private func hmac(_ bytes: [UInt8]) -> [UInt8]? {
      let function =
        switch digest {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        }
      var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
      var count: UInt32 = 0
      let size = Int32(clamping: macKey.count)
      guard HMAC(function, macKey, size, bytes, bytes.count, &result, &count) != nil else {
        return nil
      }
      return Array(result.prefix(Int(count)))
    }
  }
#endif
