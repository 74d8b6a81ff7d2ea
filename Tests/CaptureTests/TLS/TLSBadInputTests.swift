#if !canImport(CryptoKit)
  import RepriseCore
  import TestSupport
  import Testing

  @testable import Capture

  /// Sessions of openssl in which something stands that no TLS says.
  @Suite struct TLSBadInputTests {
    /// A session whose client says something else behind its first turns, and nothing more.
    private static func dialogue(
      _ session: TLSSessions.Recorded, _ bytes: [UInt8], behind turns: Int
    ) -> Dialogue {
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      for turn in session.turns.prefix(turns) { dialogue.send(turn.sender, turn.bytes) }
      dialogue.send(.client, bytes)
      dialogue.close()
      return dialogue
    }

    /// The first turn in which the client sends a message that is longer than a packet.
    private static func longTurn(_ session: TLSSessions.Recorded) throws -> Int {
      try #require(
        session.turns.firstIndex { $0.sender == .client && $0.bytes.count > 4_000 })
    }

    private static func record(_ length: Int) -> [UInt8] {
      [23, 3, 3, UInt8(length >> 8), UInt8(length & 0xFF)]
        + [UInt8](repeating: 0x55, count: length)
    }

    private static func types(_ tap: Tap) throws -> [String] {
      try tap.events.map { try InspectLine($0).type }
    }

    /// The longest record is 2^14 bytes and what protects them (RFC 5246 section 6.2.3, RFC 8446 section 5.2).
    @Test(arguments: [
      ("AES128-SHA", 16_384 + 2_048), ("TLS_AES_128_GCM_SHA256", 16_384 + 256),
    ])
    func `a record that is too long is none`(_ name: String, _ longest: Int) throws {
      let session = try TLSSessions.named(name)
      let place = try Self.longTurn(session)
      for (length, isRecord) in [(longest, true), (longest + 1, false)] {
        let tap = Tap(
          Self.dialogue(session, Self.record(length), behind: place).segments,
          secrets: session.secrets())
        #expect(tap.packets(.client).map(\.bytes) == [TLSSessions.fromClient[0]])
        #expect(tap.packets(.server).map(\.bytes) == [TLSSessions.fromServer[0]])
        let isTold = tap.notes.contains { $0.contains("what follows is no record of TLS") }
        #expect(isTold == !isRecord, "\(length): \(tap.notes)")
        #expect(tap.reserved == 0)
      }
    }

    /// A connection that ends within a record does not end in order; what was in it nobody knows.
    @Test(arguments: ["AES128-SHA", "TLS_AES_128_GCM_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"])
    func `a record that is cut is not read`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let place = try Self.longTurn(session)
      let bytes = session.turns[place].bytes
      let first = 5 + Int(bytes[3]) << 8 + Int(bytes[4])
      for count in [1, 4, 5, 6, first - 1, first] {
        let tap = Tap(
          Self.dialogue(session, Array(bytes.prefix(count)), behind: place).segments,
          secrets: session.secrets())
        #expect(tap.packets(.server).map(\.bytes) == [TLSSessions.fromServer[0]])
        // Also with the whole record there is no more than the beginning of a PUBLISH.
        #expect(tap.packets(.client).map(\.bytes) == [TLSSessions.fromClient[0]], "\(count)")
        #expect(tap.closings == [.fin])
        #expect(tap.reserved == 0)
      }
    }

    /// A peer that never ends a handshake has said nothing that could be read.
    @Test(arguments: [false, true])
    func `a handshake without an end is told as such`(_ hasKeys: Bool) throws {
      let session = try TLSSessions.named("AES128-SHA")
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      for turn in session.turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
      let secrets = hasKeys ? session.secrets() : TLSSecrets()
      let tap = Tap(dialogue.segments, secrets: secrets)
      #expect(try Self.types(tap) == ["TLS"])
      #expect(
        tap.notes == [
          "1 connection of port 8883 spoke TLS 1.2 with broker.example and ended within the "
            + "handshake (first in frame 1)"
        ])
      #expect(tap.reserved == 0)
    }

    /// A client of 1.3 that does not trust the server says so in the clear, as it never used keys (RFC 8446 section 6.2).
    @Test(arguments: ["", "handshake", "other"])
    func `an alert in the clear behind the hellos of 1_3 is told`(_ keys: String) throws {
      let session = try TLSSessions.named("TLS_AES_128_GCM_SHA256")
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      for turn in session.turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
      dialogue.send(.client, [21, 3, 3, 0, 2, 2, 48])
      dialogue.close()
      let own = session.keys.split(separator: "\n").filter { $0.contains("HANDSHAKE") }
      let other = try TLSSessions.named("padded").keys
      let secrets =
        switch keys {
        case "": TLSSecrets()
        case "other": session.secrets(other)
        default: session.secrets(own.joined(separator: "\n"))
        }
      let tap = Tap(dialogue.segments, secrets: secrets)
      #expect(try Self.types(tap) == ["TLS", "ALERT"])
      #expect(
        tap.notes == [
          "1 connection of port 8883 spoke TLS 1.3 with broker.example and ended within the "
            + "handshake (first in frame 1)"
        ])
      #expect(tap.reserved == 0)
    }

    @Test(arguments: [
      Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [0x20, 2, 0, 0], [0x20, 3, 0, 0, 0],
    ])
    func `a server that answers a hello without TLS is told`(_ answer: [UInt8]) throws {
      let session = try TLSSessions.named("TLS_AES_128_GCM_SHA256")
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      dialogue.send(.client, session.turns[0].bytes)
      dialogue.send(.server, answer)
      dialogue.close()
      let tap = Tap(dialogue.segments, secrets: TLSSecrets())
      #expect(try Self.types(tap) == ["TLS"])
      #expect(tap.notes.count == 1)
      #expect(
        tap.notes.first?.contains("can't be read: the server answers without TLS")
          == true, "\(tap.notes)")
    }

    /// A hello may go on in records of its own (RFC 8446 section 5.1).
    @Test(arguments: [4, 5, 20, 37, 38, 100])
    func `a hello that is cut over records is recognised`(_ length: Int) throws {
      let session = try TLSSessions.named("TLS_AES_128_GCM_SHA256")
      let hello = session.turns[0].bytes.dropFirst(5)
      var cut: [UInt8] = []
      var rest = Array(hello)
      while !rest.isEmpty {
        let piece = rest.prefix(length)
        cut += [22, 3, 1, 0, UInt8(piece.count)] + piece
        rest.removeFirst(piece.count)
      }
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      dialogue.send(.client, cut)
      for turn in session.turns.dropFirst() { dialogue.send(turn.sender, turn.bytes) }
      dialogue.close()
      let tap = Tap(dialogue.segments, secrets: session.secrets())
      #expect(tap.packets(.client).map(\.bytes) == TLSSessions.fromClient)
      #expect(tap.packets(.server).map(\.bytes) == TLSSessions.fromServer)
      #expect(tap.notes == [])
    }

    /// Alerts in the clear, before and behind the keys: each is told where it can be, and none is kept for long.
    @Test(arguments: ["AES128-SHA", "TLS_AES_128_GCM_SHA256"])
    func `a flood of alerts takes no memory`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let alert: [UInt8] = [21, 3, 3, 0, 2, 1, 90]
      let flood = Array(repeatElement(alert, count: 20_000).joined())
      func tap(_ flood: [UInt8]) -> Tap {
        var dialogue = Dialogue(serverPort: 8_883)
        dialogue.open()
        for (index, turn) in session.turns.enumerated() {
          if index == 1 { dialogue.send(.server, flood) }
          dialogue.send(turn.sender, turn.bytes)
        }
        dialogue.close()
        return Tap(dialogue.segments, secrets: session.secrets())
      }
      let (calm, flooded) = (tap([]), tap(flood))
      #expect(flooded.packets(.client).map(\.bytes) == TLSSessions.fromClient)
      #expect(flooded.packets(.server).map(\.bytes) == TLSSessions.fromServer)
      #expect(
        flooded.notes == [
          "19992 alerts of TLS are left out: before it is known what a connection speaks 8 of it are kept"
        ])
      #expect(calm.notes == [] && flooded.reserved == 0)
      #expect(flooded.mostReserved <= calm.mostReserved + 4_096)
      let (more, some) = (try Self.types(flooded), try Self.types(calm))
      #expect(more.filter { $0 != "ALERT" } == some.filter { $0 != "ALERT" })
      #expect(more.count - some.count == 8)
    }
  }
#endif
