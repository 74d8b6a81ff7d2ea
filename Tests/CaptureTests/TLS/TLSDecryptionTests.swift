#if !canImport(CryptoKit)
  import RepriseCore
  import Testing
  import TestSupport

  @testable import Capture

  /// Sessions of openssl, decrypted.
  @Suite struct TLSDecryptionTests {
    private static let types = [
      "OPEN", "CONNECT", "CONNACK", "PUBLISH", "PUBLISH", "PINGREQ", "PINGRESP", "DISCONNECT",
      "CLOSE",
    ]

    private static func types(_ tap: Tap) throws -> [String] {
      try tap.events.map { try InspectLine($0).type }
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `every packet is decrypted, however it is cut into segments`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      for pieces in [1_460, 7, 65_000] {
        let tap = Tap(session.dialogue(pieces: pieces).segments, secrets: session.secrets())
        #expect(tap.packets(.client).map(\.bytes) == TLSSessions.fromClient, "\(pieces)")
        #expect(tap.packets(.server).map(\.bytes) == TLSSessions.fromServer, "\(pieces)")
        #expect(try Self.types(tap) == Self.types, "\(pieces)")
        #expect(tap.notes == [] && tap.reserved == 0, "\(pieces)")
        #expect(tap.events.allSatisfy { $0.context.connection == 1 })
      }
    }

    @Test(arguments: TLSSessions.names)
    func `without a key the connection is named, and what to do`(
      _ name: String, _ version: String
    ) throws {
      let session = try TLSSessions.named(name)
      let bare = Tap(session.dialogue().segments)
      #expect(bare.events.isEmpty)
      let spoke = "1 connection of port 8883 spoke \(version) with broker.example and can't be read"
      #expect(
        bare.notes == [
          "\(spoke) without keys (first in frame 1); give the key log that the client or the "
            + "server wrote (SSLKEYLOGFILE) by --keylog FILE"
        ])
      let others = try TLSSessions.named(name == "padded" ? "retry" : "padded")
      let foreign = Tap(session.dialogue().segments, secrets: others.secrets())
      #expect(foreign.events.isEmpty)
      #expect(
        foreign.notes == [
          "\(spoke): no key that is given belongs to it (first in frame 1); give the key log of "
            + "that very session"
        ])
      let wrong = Tap(
        session.dialogue().segments, secrets: session.secrets(Self.damaged(session.keys)))
      #expect(wrong.events.isEmpty)
      #expect(
        wrong.notes == [
          "\(spoke): what is given as its keys does not decrypt it (first in frame 1); give the "
            + "key log of that very session"
        ])
    }

    /// A key log with a digit of every secret changed.
    private static func damaged(_ keys: String) -> String {
      keys.split(separator: "\n").map { line in
        line.hasPrefix("#") ? String(line) : line.dropLast() + (line.last == "0" ? "1" : "0")
      }
      .joined(separator: "\n")
    }
  }
#endif
