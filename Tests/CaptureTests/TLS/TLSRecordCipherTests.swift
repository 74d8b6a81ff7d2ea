#if !canImport(CryptoKit)
  import Testing

  @testable import Capture

  /// Keys and records, by the values of RFC 8448 and of other implementations.
  @Suite struct TLSRecordCipherTests {
    private static func bytes(_ text: String) -> [UInt8] {
      let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
      return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func open(
      _ cipher: TLSAEADCipher, _ fragment: [UInt8], header: [UInt8], sequence: UInt64
    ) -> [UInt8]? {
      var plain = [UInt8](repeating: 0x55, count: fragment.count + 64)
      let record = header + fragment
      return cipher.open(record.span.bytes, sequence: sequence, into: &plain).map {
        Array(plain[..<$0])
      }
    }

    /// The client's Finished of RFC 8448 section 3, and the secret that protects it.
    private static let secret = bytes(
      "b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21")
    private static let header = bytes("1703030035")
    private static let sealed = bytes(
      "75ec4dc238cce60b298044a71e219c56cc77b0517fe9b93c7a4bfc44d87f38f80338ac98fc46deb384bd1c"
        + "aeacab6867d726c40546")
    private static let finished = bytes(
      "14000020a8ec436d677634ae525ac1fcebe11a039ec17694fac6e98527b642f2edd5ce6116")

    /// What a cipher of 1.2 makes of C0 00 with the sequence numbers 0 and 258 (pyca/cryptography 48).
    private static let records: [(TLSAEAD, String, String)] = [
      (
        .aes128GCM, "a0a1a2a3a4a5a6a789f252206fbfce1016156c8075a558188b85",
        "a0a1a2a3a4a5a6a789f2bf4307beb7fd02fb2d9fe2521e688948"
      ),
      (
        .aes256GCM, "a0a1a2a3a4a5a6a74e8971e893bbf6747678560537ee79ef3702",
        "a0a1a2a3a4a5a6a74e8906f5a4ce08c8cb6b5d05434ec12b5172"
      ),
      (
        .aes128CCM, "a0a1a2a3a4a5a6a7670a7ad56b3e005e6409ffa328e955692076",
        "a0a1a2a3a4a5a6a7670a0343edcfd5400ea7cb908b122f95d22a"
      ),
      (
        .aes256CCM, "a0a1a2a3a4a5a6a7c07d9818312fc8de1f8d3dd8bd327f450a88",
        "a0a1a2a3a4a5a6a7c07d5832e05deeaafeaeb7bcce93bd9f0fd8"
      ),
      (
        .aes128CCM8, "a0a1a2a3a4a5a6a7670aa22c55c2e5632313",
        "a0a1a2a3a4a5a6a7670afb70ae1f40e2d56d"
      ),
      (
        .aes256CCM8, "a0a1a2a3a4a5a6a7c07db3a56bc488ff2241",
        "a0a1a2a3a4a5a6a7c07d1c5fd7d90880c5d7"
      ),
      (
        .chaCha20Poly1305, "49fb823ef14e2f86488aef4d72ee4bb59431",
        "ee7ab60e97d69d021b186a36eb78541776ab"
      ),
    ]

    @Test func `derives what RFC 8448 derives, and opens its record`() throws {
      let derivation = TLSHash.sha256
      let key = try #require(derivation.expand(Self.secret, "key", count: 16))
      let iv = try #require(derivation.expand(Self.secret, "iv", count: 12))
      #expect(key == Self.bytes("dbfaa693d1762c5b666af5d950258d01"))
      #expect(iv == Self.bytes("5bd3c71b836e0b76bb73265f"))
      let cipher = try #require(TLSAEADCipher(.aes128GCM, key: key, iv: iv, isTLS13: true))
      #expect(Self.open(cipher, Self.sealed, header: Self.header, sequence: 1) == nil)
      #expect(Self.open(cipher, Self.sealed, header: Self.header, sequence: 0) == Self.finished)
      #expect(Self.open(cipher, Self.sealed, header: Self.bytes("1703030036"), sequence: 0) == nil)
    }

    @Test func `computes what OpenSSL's own functions compute`() {
      #expect(
        TLSHash.sha256.prf(
          Self.bytes("9bbe436ba940f017b17652849a71db35"), "test label",
          seed: Self.bytes("a0ba9f936cda311827a6f796ffd5198c"), count: 32)
          == Self.bytes("e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a"))
      #expect(
        TLSHash.sha384.prf(
          Array(0..<16), "key expansion", seed: [0xa0, 0xa1, 0xa2, 0xa3], count: 40)
          == Self.bytes(
            "73aa3bbd7d095ab19e39de736be2b5aa168644b8587ba39be716c76f2cb09f53d9f6d5197054a591"))
      #expect(
        TLSHash.sha384.updated(Array(0..<48))
          == Self.bytes(
            "401331b63e9d59f202e8f041042d9516f4cd7fa2e2ee14631d3b49fc340d7af37fc2c0c9f252d8036f81ec"
              + "5b85cbe5db"))
    }

    @Test func `opens records of 1.2 of every algorithm, one after another`() throws {
      #expect(Self.records.map(\.0) == TLSAEAD.allCases)
      for (algorithm, first, later) in Self.records {
        let count: UInt8 = algorithm == .chaCha20Poly1305 ? 12 : 4
        let cipher = try #require(
          TLSAEADCipher(
            algorithm, key: (0..<algorithm.keySize).map { UInt8($0) }, iv: Array(0..<count),
            isTLS13: false))
        let header = Self.bytes("1703030022")
        let sealed = Self.bytes(first)
        #expect(
          Self.open(cipher, sealed, header: header, sequence: 0) == [0xc0, 0x00], "\(algorithm)")
        for place in sealed.indices {
          var damaged = sealed
          damaged[place] ^= 1
          #expect(Self.open(cipher, damaged, header: header, sequence: 0) == nil, "\(algorithm)")
          let cut = Array(sealed[..<place])
          #expect(Self.open(cipher, cut, header: header, sequence: 0) == nil, "\(algorithm)")
        }
        #expect(Self.open(cipher, sealed, header: header, sequence: 1) == nil, "\(algorithm)")
        #expect(
          Self.open(cipher, Self.bytes(later), header: header, sequence: 258) == [0xc0, 0x00],
          "\(algorithm)")
      }
    }

    @Test(arguments: [(15, 12), (17, 12), (16, 11), (16, 4), (0, 0)])
    func `refuses keys of other sizes`(_ key: Int, _ iv: Int) {
      let key = [UInt8](repeating: 0, count: key)
      let iv = [UInt8](repeating: 0, count: iv)
      #expect(TLSAEADCipher(.aes128GCM, key: key, iv: iv, isTLS13: true) == nil)
    }
  }
#endif
