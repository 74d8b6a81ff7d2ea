#if !canImport(CryptoKit)
  import Foundation
  import RepriseCore
  import TestSupport
  import Testing

  @testable import Capture

  /// Sessions that a key of the server or a pre-shared one decrypts, without a key log.
  @Suite struct TLSLongTermKeyTests {
    private static let rsa = [
      "AES128-SHA", "AES128-SHA256", "AES128-CCM8", "AES256-CCM", "NULL-SHA", "NULL-SHA256",
      "AES128-SHA-mac-first", "AES128-SHA-plain-master",
      "resumed-rsa-ticket-1", "resumed-rsa-id-1", "refused-1", "refused-2",
    ]
    private static let shared = [
      "PSK-AES128-GCM-SHA256", "PSK-AES128-CCM8", "PSK-AES256-CBC-SHA",
    ]
    private static let shared13 = [
      "only-shared-TLS_AES_128_GCM_SHA256", "only-shared-TLS_CHACHA20_POLY1305_SHA256",
      "only-shared-TLS_AES_256_GCM_SHA384",
    ]
    private static let together = ["RSA-PSK-AES128-GCM-SHA256", "RSA-PSK-AES256-CBC-SHA384"]

    private static func withKey<Value>(
      _ text: String, _ body: (String) throws -> Value
    ) throws -> Value {
      let temporary = try TemporaryFile(Array(text.utf8))
      return try body(temporary.path)
    }

    private static func isWhole(_ tap: Tap) -> Bool {
      tap.packets(.client).map(\.bytes) == TLSSessions.fromClient
        && tap.packets(.server).map(\.bytes) == TLSSessions.fromServer
        && tap.closings == [.fin]
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `the server's key decrypts what was encrypted by it`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let key = try Self.withKey(session.serverKey) { try TLSServerKey($0) }
      let tap = Tap(session.dialogue().segments, secrets: TLSSecrets(serverKey: key))
      #expect(Self.isWhole(tap) == Self.rsa.contains(name))
      guard !Self.rsa.contains(name) else { return }
      #expect(tap.events.count == 1)
      // What is resumed has no exchange of its own.
      let isOfPSK = Self.shared.contains(name) || name.hasPrefix("resumed-rsa")
      let why =
        Self.together.contains(name)
        ? "can't be read by one key"
        : isOfPSK ? "no key that is given belongs to it" : "no such key tells the secrets of TLS_"
      #expect(tap.notes.first?.contains(why) == true, "\(tap.notes)")
    }

    @Test(arguments: together)
    func `the server's key and the one that both ends have decrypt together`(
      _ name: String
    ) throws {
      let session = try TLSSessions.named(name)
      let serverKey = try Self.withKey(session.serverKey) { try TLSServerKey($0) }
      let key = TLSSessions.preSharedKey(name)
      func tap(_ serverKey: TLSServerKey?, _ key: [UInt8]?) -> Tap {
        Tap(
          session.dialogue().segments,
          secrets: TLSSecrets(serverKey: serverKey, preSharedKey: key))
      }
      #expect(Self.isWhole(tap(serverKey, key)))
      let suite = try #require(
        name.contains("GCM")
          ? "TLS_RSA_PSK_WITH_AES_128_GCM_SHA256" : "TLS_RSA_PSK_WITH_AES_256_CBC_SHA384")
      for half in [tap(serverKey, nil), tap(nil, key)] {
        #expect(half.events.count == 1)
        #expect(
          half.notes == [
            "1 connection of port 8883 spoke TLS 1.2 with broker.example and can't be read by one key: "
              + "\(suite) takes the server's and the pre-shared one (first in frame 1); give both: "
              + "--server-key PEM --psk HEX"
          ])
      }
      let wrong = tap(serverKey, key.reversed())
      #expect(wrong.events.count == 1)
      #expect(wrong.notes.first?.contains("the key that is given does not decrypt it") == true)
    }

    @Test(arguments: [nil, "key"])
    func `no key undoes Diffie-Hellman that one is added to`(_ serverKey: String?) throws {
      let session = try TLSSessions.named("DHE-PSK-AES128-GCM-SHA256")
      let key = try serverKey.map { _ in
        try Self.withKey(session.serverKey) { try TLSServerKey($0) }
      }
      let tap = Tap(
        session.dialogue().segments,
        secrets: TLSSecrets(
          serverKey: key, preSharedKey: TLSSessions.preSharedKey(session.name)))
      #expect(tap.events.count == 1)
      #expect(
        tap.notes == [
          "1 connection of port 8883 spoke TLS 1.2 with broker.example and can't be read by the key that "
            + "is given: no such key tells the secrets of TLS_DHE_PSK_WITH_AES_128_GCM_SHA256 (first in "
            + "frame 1); give a key log by --keylog FILE"
        ])
    }

    /// The server's Finished is made of all that precedes it (RFC 8446 section 4.4.4), with a second hello in its own form.
    @Test(arguments: ["retry", "TLS_AES_256_GCM_SHA384"])
    func `what a handshake says is what its server has signed off`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      var exchange = TLSKeyExchange()
      var hellos: [TLSHello] = []
      var (plain, sealed): ([UInt8], [[UInt8]]) = ([], [])
      for turn in session.turns where !(turn.sender == .client && hellos.last?.version == 0x0304) {
        for record in Self.records(turn.bytes) {
          if record[0] == TLSRecord.applicationData { sealed.append(record) }
          guard record[0] == TLSRecord.handshake else { continue }
          let body = record[9...]
          exchange.append(Array(record[5...]))
          if turn.sender == .client { exchange.begin(body) }
          guard turn.sender == .server else { continue }
          let hello = try #require(TLSHello(body, isFromClient: false))
          if hello.isRetry { exchange.retry(.sha384) } else { hellos.append(hello) }
        }
      }
      let random = try #require(Self.clientRandom(session))
      let secret = try #require(session.secrets().secret(.serverHandshake, of: random))
      let suite = try #require(hellos.last?.suite)
      let cipher = try #require(TLSKeys.cipher(secret: secret, suite))
      var buffer = [UInt8](repeating: 0, count: 1 << 15)
      var sequence: UInt64 = 0
      for record in sealed {
        guard
          let count = cipher.open(record.span.bytes, sequence: sequence, into: &buffer)
        else { break }
        sequence += 1
        plain += buffer.prefix(count).dropLast()
      }
      // Finished is the last message, and as long as a hash.
      let size = suite.hash.size
      let finished = Array(plain.suffix(size))
      #expect(Array(plain.dropLast(size).suffix(4)) == [20, 0, 0, UInt8(size)])
      exchange.append(Array(plain.dropLast(size + 4)))
      let key = try #require(suite.hash.expand(secret, "finished", count: size))
      let digest = try #require(suite.hash.digest(exchange.messages(without: 0)))
      // An extraction is an HMAC by the salt (RFC 5869 section 2.2).
      #expect(suite.hash.extract(salt: key, digest) == finished)
    }

    private static func records(_ bytes: [UInt8]) -> [[UInt8]] {
      var records: [[UInt8]] = []
      var rest = bytes[...]
      while rest.count >= 5 {
        let size = 5 + Int(rest[rest.startIndex + 3]) << 8 + Int(rest[rest.startIndex + 4])
        records.append(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      return records
    }

    private static func clientRandom(_ session: TLSSessions.Recorded) -> [UInt8]? {
      session.turns.first.map { Array($0.bytes[11..<43]) }
    }

    @Test(arguments: ["resumed-rsa-ticket", "resumed-rsa-id"])
    func `a session that is resumed is decrypted by the one before it`(_ name: String) throws {
      let (first, second) = (
        try TLSSessions.named("\(name)-1"), try TLSSessions.named("\(name)-2")
      )
      let secrets = TLSSecrets(
        serverKey: try Self.withKey(first.serverKey) { try TLSServerKey($0) })
      #expect(Tap(second.dialogue().segments, secrets: secrets).events.count == 1)
      #expect(Self.isWhole(Tap(first.dialogue().segments, secrets: secrets)))
      #expect(Self.isWhole(Tap(second.dialogue().segments, secrets: secrets)))
    }

    @Test func `a ticket that is refused leads to secrets of its own`() throws {
      let (first, second) = (
        try TLSSessions.named("refused-1"), try TLSSessions.named("refused-2")
      )
      let secrets = TLSSecrets(
        serverKey: try Self.withKey(second.serverKey) { try TLSServerKey($0) })
      #expect(Self.isWhole(Tap(first.dialogue().segments, secrets: secrets)))
      #expect(Self.isWhole(Tap(second.dialogue().segments, secrets: secrets)))
    }

    @Test(arguments: shared + shared13 + ["only-shared-early_SHA384"])
    func `a key that both ends have decrypts what only it protects`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let key = TLSSessions.preSharedKey(name)
      let secrets = TLSSecrets(preSharedKey: key)
      #expect(Self.isWhole(Tap(session.dialogue().segments, secrets: secrets)))
      let wrong = Tap(
        session.dialogue().segments, secrets: TLSSecrets(preSharedKey: key.reversed()))
      #expect(wrong.events.count == 1)
      #expect(wrong.notes.first?.contains("the key that is given does not decrypt it") == true)
    }

    @Test(arguments: TLSSessions.names.map(\.0).filter { $0.hasPrefix("also-shared") })
    func `a key that both ends have is not enough behind Diffie-Hellman`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let secrets = TLSSecrets(preSharedKey: TLSSessions.preSharedKey(name))
      let tap = Tap(session.dialogue().segments, secrets: secrets)
      // What comes early only that key protects; that it is taken the client shows.
      #expect(tap.events.count == (name.contains("early") ? 5 : 1))
      #expect(tap.notes.first?.contains("no such key tells the secrets of TLS_") == true)
    }

    @Test(arguments: shared13)
    func `without the server's end of the handshake no keys are made up`(
      _ name: String
    ) throws {
      let session = try TLSSessions.named(name)
      var segments = session.dialogue(pieces: 100).segments
      // Behind the three segments of TCP's handshake come those of the client's hello, and then the server's.
      let first = try #require(
        segments.firstIndex { $0.sender == .server && !$0.payload.isEmpty })
      segments.remove(at: first + 1)
      let tap = Tap(
        segments, secrets: TLSSecrets(preSharedKey: TLSSessions.preSharedKey(name)))
      #expect(tap.packets(.client).isEmpty && tap.packets(.server).isEmpty)
      #expect(tap.notes.first?.contains("too much is missing") == true, "\(tap.notes)")
    }

    @Test func `the key of another server decrypts nothing`() throws {
      let session = try TLSSessions.named("AES128-SHA")
      let text = try ProgramRun(["openssl", "genrsa", "2048"]).output
      let key = try Self.withKey(text) { try TLSServerKey($0) }
      let tap = Tap(session.dialogue().segments, secrets: TLSSecrets(serverKey: key))
      #expect(tap.events.count == 1 && tap.notes.count == 1)
    }

    @Test(arguments: [
      "", "no key", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n",
      """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
      -----END PRIVATE KEY-----
      """,
    ])
    func `what is no RSA key is an error that names the file`(_ text: String) throws {
      try Self.withKey(text) { path in
        let capture = PcapBuilder(linkType: 101).bytes
        let error = #expect(throws: CaptureError.self) {
          try Readout(file: capture, options: InputOptions(serverKey: path))
        }
        #expect(error?.code == .invalidKey && error?.file == path)
      }
    }
  }
#endif
