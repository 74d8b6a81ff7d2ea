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
      "resumed-rsa-ticket-1", "resumed-rsa-id-1",
    ]
    private static let shared = [
      "PSK-AES128-GCM-SHA256", "PSK-AES128-CCM8", "PSK-AES256-CBC-SHA",
    ]
    private static let shared13 = [
      "only-shared-TLS_AES_128_GCM_SHA256", "only-shared-TLS_CHACHA20_POLY1305_SHA256",
      "only-shared-TLS_AES_256_GCM_SHA384",
    ]

    private static func withKey<Value>(
      _ text: String, _ body: (String) throws -> Value
    ) throws -> Value {
      let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try Data(text.utf8).write(to: path)
      defer { try? FileManager.default.removeItem(at: path) }
      return try body(path.path)
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
      #expect(
        tap.notes.first?.contains(
          isOfPSK
            ? "no key that is given belongs to it" : "no such key tells the secrets of TLS_")
          == true, "\(tap.notes)")
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

    @Test(arguments: shared + shared13)
    func `a key that both ends have decrypts what only it protects`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let key = TLSSessions.preSharedKey(name)
      let secrets = TLSSecrets(preSharedKey: key)
      #expect(Self.isWhole(Tap(session.dialogue().segments, secrets: secrets)))
      let wrong = Tap(
        session.dialogue().segments, secrets: TLSSecrets(preSharedKey: key.reversed()))
      #expect(wrong.events.count == 1)
      #expect(wrong.notes.first?.contains("what is given as its keys does not decrypt it") == true)
    }

    @Test(arguments: TLSSessions.names.map(\.0).filter { $0.hasPrefix("also-shared") })
    func `a key that both ends have is not enough behind Diffie-Hellman`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let secrets = TLSSecrets(preSharedKey: TLSSessions.preSharedKey(name))
      let tap = Tap(session.dialogue().segments, secrets: secrets)
      #expect(tap.events.count == 1)
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
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["openssl", "genrsa", "2048"]
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = FileHandle.nullDevice
      try process.run()
      let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
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
