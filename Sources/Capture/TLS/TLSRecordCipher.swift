#if !canImport(CryptoKit)
  internal import CCrypto

  /// What decrypts the records of one direction with one key, by authenticated encryption.
  final class TLSRecordCipher {
    enum Algorithm: CaseIterable {
      case aes128GCM, aes256GCM, aes128CCM, aes256CCM, aes128CCM8, aes256CCM8, chaCha20Poly1305

      /// The size of the key in bytes.
      var keySize: Int {
        switch self {
        case .aes128GCM, .aes128CCM, .aes128CCM8: 16
        case .aes256GCM, .aes256CCM, .aes256CCM8, .chaCha20Poly1305: 32
        }
      }

      fileprivate var tagSize: Int { self == .aes128CCM8 || self == .aes256CCM8 ? 8 : 16 }

      fileprivate var isCCM: Bool {
        switch self {
        case .aes128CCM, .aes256CCM, .aes128CCM8, .aes256CCM8: true
        case .aes128GCM, .aes256GCM, .chaCha20Poly1305: false
        }
      }

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

    private static let nonceSize = 12

    private let algorithm: Algorithm
    private let isTLS13: Bool
    private let iv: [UInt8]
    private let context: OpaquePointer

    /// Makes a cipher; nil if a size is wrong or the system does not have the algorithm.
    ///
    /// The IV has 12 bytes, or 4 where records of 1.2 bring the other 8 (RFC 5288 section 3). Records
    /// of 1.3 are protected as in RFC 8446 section 5.2.
    init?(_ algorithm: Algorithm, key: [UInt8], iv: [UInt8], isTLS13: Bool) {
      let isWhole = isTLS13 || algorithm == .chaCha20Poly1305
      guard key.count == algorithm.keySize, iv.count == (isWhole ? Self.nonceSize : 4),
        let context = EVP_CIPHER_CTX_new()
      else { return nil }
      self.algorithm = algorithm
      self.isTLS13 = isTLS13
      self.iv = iv
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

    /// Decrypts the fragment of a record.
    /// - Parameters:
    ///   - fragment: What follows the header, whole.
    ///   - header: The 5 bytes that precede the fragment.
    ///   - sequence: The number of the record since its key is in use.
    /// - Returns: The plain bytes, those of 1.3 with their type and padding; nil if the fragment is
    ///   not authentic, which a wrong key, a wrong number and damage have in common.
    func open(_ fragment: [UInt8], header: [UInt8], sequence: UInt64) -> [UInt8]? {
      let explicit = Self.nonceSize - iv.count
      guard header.count == TLSRecord.headerSize, fragment.count <= Int(UInt16.max),
        fragment.count >= explicit + algorithm.tagSize
      else { return nil }
      let sealed = Array(fragment[explicit..<(fragment.count - algorithm.tagSize)])
      var tag = Array(fragment.suffix(algorithm.tagSize))
      let number = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> UInt64(56 - 8 * $0)) }
      var nonce = iv + fragment.prefix(explicit)
      if explicit == 0 {
        for (place, byte) in number.enumerated() { nonce[place + 4] ^= byte }
      }
      let size = sealed.count
      let additional =
        isTLS13
        ? header
        : number + header.prefix(3) + [UInt8(size >> 8), UInt8(truncatingIfNeeded: size)]
      guard
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
        EVP_DecryptInit_ex(context, nil, nil, nil, nonce) == 1
      else { return nil }
      return open(sealed, additional)
    }

    private func open(_ sealed: [UInt8], _ additional: [UInt8]) -> [UInt8]? {
      let size = Int32(clamping: sealed.count)
      var count: Int32 = 0
      // CCM must know the size beforehand, and checks the tag at once (RFC 3610).
      if algorithm.isCCM, EVP_DecryptUpdate(context, nil, &count, nil, size) != 1 { return nil }
      // One byte more, as an empty array has no address to write to.
      var plain = [UInt8](repeating: 0, count: sealed.count + 1)
      guard
        EVP_DecryptUpdate(context, nil, &count, additional, Int32(additional.count)) == 1,
        EVP_DecryptUpdate(context, &plain, &count, sealed, size) == 1
      else { return nil }
      var last: [UInt8] = [UInt8](repeating: 0, count: 16)
      guard algorithm.isCCM || EVP_DecryptFinal_ex(context, &last, &count) == 1 else {
        return nil
      }
      plain.removeLast()
      return plain
    }
  }
#endif
