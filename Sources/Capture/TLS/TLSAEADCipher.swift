#if !canImport(CryptoKit)
  internal import CCrypto

  /// What undoes authenticated encryption.
  final class TLSAEADCipher: TLSRecordCipher {
    private static let nonceSize = 12

    private let algorithm: TLSAEAD
    private let isTLS13: Bool
    private let iv: [UInt8]
    private var nonce: [UInt8]
    private let context: OpaquePointer

    /// Makes a cipher; nil if a size is wrong or the system does not have the algorithm.
    ///
    /// The IV has 12 bytes, or 4 where records of 1.2 bring the other 8 (RFC 5288 section 3). Records
    /// of 1.3 are protected as in RFC 8446 section 5.2.
    init?(_ algorithm: TLSAEAD, key: [UInt8], iv: [UInt8], isTLS13: Bool) {
      let isWhole = isTLS13 || algorithm == .chaCha20Poly1305
      guard key.count == algorithm.keySize, iv.count == (isWhole ? Self.nonceSize : 4),
        let context = EVP_CIPHER_CTX_new()
      else { return nil }
      self.algorithm = algorithm
      self.isTLS13 = isTLS13
      self.iv = iv
      nonce = iv + [UInt8](repeating: 0, count: Self.nonceSize - iv.count)
      self.context = context
      let size = Int32(algorithm.tagSize)
      guard EVP_DecryptInit_ex(context, algorithm.cipher, nil, nil, nil) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(Self.nonceSize), nil) == 1,
        !algorithm.isCCM
          || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, size, nil) == 1,
        EVP_DecryptInit_ex(context, nil, nil, key, nil) == 1
      else { return nil }
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// The part of the nonce that stands in each record, in bytes.
    private var explicit: Int { Self.nonceSize - iv.count }

    var overhead: Int? { explicit + algorithm.tagSize }

    func open(_ record: RawSpan, sequence: UInt64, into plain: inout [UInt8]) -> Int? {
      let start = TLSRecord.headerSize + explicit
      let count = record.byteCount - start - algorithm.tagSize
      guard count >= 0, count <= Int(UInt16.max), plain.count > count else { return nil }
      setNonce(record, sequence)
      var length: Int32 = 0
      let isOpen = record.withUnsafeBytes { record in
        // OpenSSL only reads the tag, but takes it by a pointer that could be written to.
        let tag = UnsafeMutableRawPointer(mutating: record.baseAddress?.advanced(by: start + count))
        guard
          EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, Int32(algorithm.tagSize), tag) == 1,
          EVP_DecryptInit_ex(context, nil, nil, nil, nonce) == 1,
          // CCM must know the size beforehand, and checks the tag at once (RFC 3610).
          !algorithm.isCCM
            || EVP_DecryptUpdate(context, nil, &length, nil, Int32(clamping: count)) == 1
        else { return false }
        let sealed = record[start..<(start + count)].bindMemory(to: UInt8.self).baseAddress
        let size = Int32(clamping: count)
        guard authenticate(record, sequence, count),
          EVP_DecryptUpdate(context, &plain, &length, sealed, size) == 1
        else { return false }
        var last: (UInt64, UInt64) = (0, 0)
        return algorithm.isCCM
          || withUnsafeMutableBytes(of: &last) { last in
            EVP_DecryptFinal_ex(
              context, last.bindMemory(to: UInt8.self).baseAddress, &length) == 1
          }
      }
      return isOpen ? count : nil
    }

    private func setNonce(_ record: RawSpan, _ sequence: UInt64) {
      guard explicit == 0 else {
        for place in iv.count..<Self.nonceSize {
          nonce[place] = record.uint8(at: TLSRecord.headerSize + place - iv.count) ?? 0
        }
        return
      }
      for place in 4..<Self.nonceSize {
        let shift = UInt64(8 * (Self.nonceSize - 1 - place))
        nonce[place] = iv[place] ^ UInt8(truncatingIfNeeded: sequence >> shift)
      }
    }

    /// Takes what is authenticated besides the content: the header of 1.3 as it is, and what precedes a content of 1.2.
    private func authenticate(
      _ record: UnsafeRawBufferPointer, _ sequence: UInt64, _ count: Int
    ) -> Bool {
      var length: Int32 = 0
      let header = record.bindMemory(to: UInt8.self)
      guard !isTLS13 else {
        let size = Int32(TLSRecord.headerSize)
        return EVP_DecryptUpdate(context, nil, &length, header.baseAddress, size) == 1
      }
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 13) { bytes in
        bytes.initialize(repeating: 0)
        for place in 0..<8 {
          bytes[place] = UInt8(truncatingIfNeeded: sequence >> UInt64(56 - 8 * place))
        }
        for place in 0..<3 { bytes[8 + place] = header[place] }
        bytes[11] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[12] = UInt8(truncatingIfNeeded: count)
        return EVP_DecryptUpdate(context, nil, &length, bytes.baseAddress, 13) == 1
      }
    }
  }

  extension TLSAEAD {
    fileprivate var cipher: OpaquePointer? {
      switch self {
      case .aes128GCM: EVP_aes_128_gcm()
      case .aes256GCM: EVP_aes_256_gcm()
      case .aes128CCM, .aes128CCM8: EVP_aes_128_ccm()
      case .aes256CCM, .aes256CCM8: EVP_aes_256_ccm()
      case .chaCha20Poly1305: EVP_chacha20_poly1305()
      }
    }
  }
#endif
