#if !canImport(CryptoKit)
  import RepriseCore
  import Testing
  import TestSupport

  @testable import Capture

  /// Sessions of openssl, decrypted.
  @Suite struct TLSDecryptionTests {
    private static let types = [
      "OPEN", "TLS", "CONNECT", "CONNACK", "PUBLISH", "PUBLISH", "PINGREQ", "PINGRESP",
      "DISCONNECT", "CLOSE",
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
        #expect(try Self.types(tap).filter { $0 != "ALERT" } == Self.types, "\(pieces)")
        #expect(try Self.types(tap).suffix(2) == ["ALERT", "CLOSE"], "\(pieces)")
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
      #expect(try Self.types(bare) == ["TLS"])
      let hellos = try #require(Self.hellos(bare))
      #expect(hellos.version == version && hellos.serverName == "broker.example")
      #expect(hellos.client == "10.0.0.1:40000" && hellos.server == "10.0.0.2:8883")
      #expect(hellos.cipherSuite?.hasPrefix("TLS_") == true)
      #expect(hellos.obstacle == "can't be read without keys")
      let remedy =
        "give the key log that the client or the server wrote (SSLKEYLOGFILE) by --keylog FILE"
        + Self.otherKeys(name)
      #expect(hellos.remedy == remedy)
      let spoke = "1 connection of port 8883 spoke \(version) with broker.example and can't be read"
      #expect(bare.notes == ["\(spoke) without keys (first in frame 1); \(remedy)"])
      let others = try TLSSessions.named(name == "padded" ? "retry" : "padded")
      let foreign = Tap(session.dialogue().segments, secrets: others.secrets())
      #expect(try Self.types(foreign) == ["TLS"])
      #expect(
        foreign.notes == [
          "\(spoke): no key that is given belongs to it (first in frame 1); give the key log of "
            + "that very session" + (version == "TLS 1.2" ? Self.otherKeys(name) : "")
        ])
      let wrong = Tap(
        session.dialogue().segments, secrets: session.secrets(Self.damaged(session.keys)))
      #expect(try Self.types(wrong) == ["TLS"])
      #expect(
        wrong.notes == [
          "\(spoke): what is given as its keys does not decrypt it (first in frame 1); give the "
            + "key log of that very session"
        ])
    }

    /// What would decrypt a session as well, beside a key log.
    private static func otherKeys(_ name: String) -> String {
      let rsa = ["resumed-rsa-ticket-1", "resumed-rsa-id-1", "refused-1", "refused-2"]
      func begins(_ words: String...) -> Bool { words.contains { name.hasPrefix($0) } }
      if begins("RSA-PSK-") { return ", or both of its keys by --server-key PEM --psk HEX" }
      if begins("PSK-", "only-shared-") { return ", or the pre-shared key by --psk HEX" }
      guard begins("AES", "NULL") || rsa.contains(name) else { return "" }
      return ", or the server's private key by --server-key PEM"
    }

    /// A key log without the lines of some labels.
    private static func keys(_ session: TLSSessions.Recorded, without labels: [String]) -> String {
      session.keys.split(separator: "\n").filter { line in
        !labels.contains { line.hasPrefix("\($0) ") }
      }
      .joined(separator: "\n")
    }

    private static let spoke13 = "1 connection of port 8883 spoke TLS 1.3 with broker.example and "

    @Test(
      arguments: TLSSessions.names.filter { $0.1 == "TLS 1.3" }.map(\.0),
      [
        ["SERVER_TRAFFIC_SECRET_0"], ["CLIENT_TRAFFIC_SECRET_0"],
        ["SERVER_TRAFFIC_SECRET_0", "SERVER_HANDSHAKE_TRAFFIC_SECRET"],
      ])
    func `a side whose secrets are there is decrypted alone`(
      _ name: String, _ missing: [String]
    ) throws {
      let session = try TLSSessions.named(name)
      let secrets = session.secrets(Self.keys(session, without: missing))
      let tap = Tap(session.dialogue().segments, secrets: secrets)
      let isClient = missing[0].hasPrefix("SERVER")
      // Early data has a secret of its own.
      let isEarly = name == "early-2" || name.contains("-early_")
      let count = isClient ? TLSSessions.fromClient.count : isEarly ? 1 : 0
      #expect(tap.packets(.client).map(\.bytes) == Array(TLSSessions.fromClient.prefix(count)))
      #expect(tap.packets(.server).map(\.bytes) == (isClient ? [] : TLSSessions.fromServer))
      // One before each thing that the other side says, and one at the end. Early data is answered at once; where it is
      // not taken, what the server sends meanwhile may be an answer all the same.
      let least = isEarly && !isClient ? 3 : 4
      let most = isClient && name.hasPrefix("unheard") ? 5 : least
      #expect((least...most).contains(tap.gaps.count), "\(tap.gaps)")
      #expect(tap.gaps.allSatisfy { $0.reason == .encrypted }, "\(tap.gaps)")
      #expect(
        tap.notes == [
          Self.spoke13 + "can be read of one side only: its keys that are given lack \(missing[0]) "
            + "(first in frame 1); give all of the key log of that very session"
        ])
      #expect(tap.closings == [.fin] && tap.malformations.isEmpty && tap.reserved == 0)
    }

    @Test(arguments: TLSSessions.names.filter { $0.1 == "TLS 1.3" }.map(\.0))
    func `secrets of the handshake alone are not called those of another one`(
      _ name: String
    ) throws {
      let session = try TLSSessions.named(name)
      let missing = ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"]
      let secrets = session.secrets(Self.keys(session, without: missing))
      let tap = Tap(session.dialogue().segments, secrets: secrets)
      #expect(
        tap.notes == [
          Self.spoke13 + "can't be read: its keys that are given lack CLIENT_TRAFFIC_SECRET_0 and "
            + "SERVER_TRAFFIC_SECRET_0 (first in frame 1); give all of the key log of that very "
            + "session"
        ])
      #expect(tap.reserved == 0)
    }

    private static func hellos(_ tap: Tap) -> TLSHellos? {
      for event in tap.events {
        if case .tls(.handshake(let hellos)) = event.body { return hellos }
      }
      return nil
    }

    @Test(arguments: [
      ("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
      ("ECDHE-RSA-AES256-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
      ("PSK-AES128-CCM8", "TLS_PSK_WITH_AES_128_CCM_8"),
      ("application", "TLS_AES_256_GCM_SHA384"),
    ])
    func `what was agreed on is told behind the opening`(_ name: String, _ suite: String) throws {
      let session = try TLSSessions.named(name)
      let tap = Tap(session.dialogue().segments, secrets: session.secrets())
      let isOfALPN = name == "application"
      #expect(
        Self.hellos(tap)
          == TLSHellos(
            client: "10.0.0.1:40000", server: "10.0.0.2:8883",
            version: suite.contains("WITH") ? "TLS 1.2" : "TLS 1.3", cipherSuite: suite,
            serverName: "broker.example", protocols: isOfALPN ? ["x-amzn-mqtt-ca", "mqtt"] : [],
            chosenProtocol: isOfALPN ? "mqtt" : nil))
      let event = try #require(tap.events.dropFirst().first)
      #expect(event.context.wire == .tls && event.context.sender == .server)
      #expect(event.context.connection == 1)
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
