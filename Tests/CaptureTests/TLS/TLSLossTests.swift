#if !canImport(CryptoKit)
  import RepriseCore
  import Testing
  import TestSupport

  @testable import Capture

  /// Sessions of openssl of which segments are missing.
  @Suite struct TLSLossTests {
    /// A session without some of its segments, which the other side acknowledged all the same.
    private static func tap(
      _ session: TLSSessions.Recorded, without missing: Range<Int>, pieces: Int = 1_460
    ) -> Tap {
      var segments = session.dialogue(pieces: pieces).segments
      segments.removeSubrange(missing.clamped(to: 3..<segments.count))
      return Tap(segments, secrets: session.secrets())
    }

    /// The segments with bytes.
    private static func full(_ session: TLSSessions.Recorded) -> [Int] {
      let segments = session.dialogue().segments
      return segments.indices.filter { !segments[$0].payload.isEmpty }
    }

    /// Whether some things are others of which any may be missing.
    private static func isPart(_ some: [[UInt8]], of all: [[UInt8]]) -> Bool {
      var rest = all[...]
      for thing in some {
        guard let place = rest.firstIndex(of: thing) else { return false }
        rest = rest[(place + 1)...]
      }
      return true
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `a lost segment hides what it held, and nothing is made up`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      for place in Self.full(session) {
        let tap = Self.tap(session, without: place..<(place + 1))
        let about = "segment \(place)"
        // A message of which bytes are missing says so itself.
        let whole: (Peer) -> [[UInt8]] = { peer in
          tap.packets(peer).filter { $0.size == $0.bytes.count }.map(\.bytes)
        }
        #expect(Self.isPart(whole(.client), of: TLSSessions.fromClient), "\(about)")
        #expect(Self.isPart(whole(.server), of: TLSSessions.fromServer), "\(about)")
        #expect(
          tap.faults.isEmpty && tap.malformations.allSatisfy { $0.code == "not-mqtt" }, "\(about)")
        #expect(tap.reserved == 0, "\(about)")
      }
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `behind a loss within data the session goes on`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let segments = session.dialogue().segments
      // The last full segment of the client's message: the records before and behind it are there.
      let places = segments.indices.filter { segments[$0].payload.count == 1_460 }
      let place = try #require(places.last { segments[$0].sender == .client })
      let tap = Self.tap(session, without: place..<(place + 1))
      #expect(tap.packets(.client).last?.bytes == [0xe0, 0])
      #expect(tap.packets(.server).map(\.bytes) == TLSSessions.fromServer)
      #expect(tap.gaps.isEmpty == false && tap.gaps.allSatisfy { $0.reason == .acknowledged })
      #expect(tap.notes == [] && tap.closings == [.fin])
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `whatever is missing, nothing is made up`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      var random = SplitMix64(seed: 8_446)
      let count = session.dialogue().segments.count
      for _ in 0..<60 {
        let start = random.int(3...(count - 1))
        let missing = start..<min(count, start + random.int(1...12))
        let tap = Self.tap(session, without: missing)
        let packets = Peer.allCases.flatMap { tap.packets($0) }.filter { $0.size == $0.bytes.count }
        let all = TLSSessions.fromClient + TLSSessions.fromServer
        #expect(packets.allSatisfy { all.contains($0.bytes) }, "\(missing)")
        #expect(
          tap.faults.isEmpty && tap.malformations.allSatisfy { $0.code == "not-mqtt" }, "\(missing)"
        )
        #expect(tap.reserved == 0, "\(missing)")
      }
    }

    /// What both ends sent, without one of the client's records of more than 1,000 bytes.
    private static func turns(
      of session: TLSSessions.Recorded, withoutLargeRecord number: Int
    ) throws -> [(sender: Peer, bytes: [UInt8])] {
      let stream = session.turns.filter { $0.sender == .client }.flatMap(\.bytes)
      var (place, large, missing) = (0, 0, 0..<0)
      while let header = TLSRecord(stream.span.bytes, at: place) {
        if header.length > 1_000 {
          if large == number { missing = place..<(place + header.size) }
          large += 1
        }
        place += header.size
      }
      try #require(!missing.isEmpty)
      var start = 0
      return session.turns.map { turn in
        guard turn.sender == .client else { return turn }
        defer { start += turn.bytes.count }
        let kept = turn.bytes.indices.filter { !missing.contains(start + $0) }
        return (turn.sender, kept.map { turn.bytes[$0] })
      }
    }

    @Test(arguments: TLSSessions.names.map(\.0))
    func `a record that nothing tells of is missed by its number`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      // The second record of the client's message, as if it had never been sent.
      let turns = try Self.turns(of: session, withoutLargeRecord: 1)
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.open()
      for turn in turns { dialogue.send(turn.sender, turn.bytes) }
      dialogue.close()
      let tap = Tap(dialogue.segments, secrets: session.secrets())
      let packets = tap.packets(.client).filter { $0.size == $0.bytes.count }.map(\.bytes)
      #expect(Self.isPart(packets, of: TLSSessions.fromClient))
      #expect(packets.last == [0xe0, 0])
      #expect(tap.gaps.contains { $0.reason == .encrypted })
      #expect(tap.notes == [] && tap.closings == [.fin])
      #expect(tap.faults.isEmpty && tap.malformations.allSatisfy { $0.code == "not-mqtt" })
    }
  }
#endif
