#if !canImport(CryptoKit)
  import Foundation
  import RepriseCore
  import Synchronization
  import TestSupport
  import Testing

  @testable import Capture

  /// Where the secrets of a capture come from.
  @Suite struct TLSSecretsTests {
    private static let name = "TLS_AES_128_GCM_SHA256"
    private static let packets = TLSSessions.fromClient.count + TLSSessions.fromServer.count

    /// A file of a name of its own that is gone behind the test.
    private static func withFile<Value>(
      _ content: [UInt8], _ body: (String) throws -> Value
    ) throws -> Value {
      let temporary = try TemporaryFile(content)
      return try body(temporary.path)
    }

    /// The session as pcapng, with its key log behind a number of frames.
    private static func pcapng(
      _ session: TLSSessions.Recorded, secretsBehind place: Int?, _ keys: String? = nil
    ) -> [UInt8] {
      var file = PcapngBuilder()
      file.section()
      file.interface(linkType: 101)
      let segments = session.dialogue().segments
      for index in 0...segments.count {
        if index == min(place ?? .max, segments.count), place != nil {
          file.secrets(type: SecretsBlock.tlsKeyLog, Array((keys ?? session.keys).utf8))
        }
        if index < segments.count { file.enhancedPacket(Readout.packet(segments[index])) }
      }
      return file.bytes
    }

    private static func controlPackets(_ events: [Event]) -> Int {
      events.count { if case .mqtt = $0.body { true } else { false } }
    }

    @Test(arguments: [0, 1, 5, 9, 40, .max])
    func `a block of secrets is found wherever it stands`(_ place: Int) throws {
      let session = try TLSSessions.named(Self.name)
      let readout = try Readout(file: Self.pcapng(session, secretsBehind: place))
      #expect(Self.controlPackets(readout.events) == Self.packets)
      #expect(readout.notes == [])
      for jobs in [1, 2] {
        let more = try Readout(
          file: Self.pcapng(session, secretsBehind: place), options: InputOptions(jobs: jobs))
        #expect(more.events == readout.events)
      }
    }

    /// What a session says early needs keys before its server has said a word.
    @Test(arguments: [0, 1, 4, 40, .max])
    func `a session and what resumes it are decrypted by a block wherever it stands`(
      _ place: Int
    ) throws {
      let (first, second) = (try TLSSessions.named("early-1"), try TLSSessions.named("early-2"))
      var file = PcapngBuilder()
      file.section()
      file.interface(linkType: 101)
      let segments =
        first.dialogue().segments + second.dialogue(clientPort: 40_001).segments
      for index in 0...segments.count {
        if index == min(place, segments.count) {
          file.secrets(type: SecretsBlock.tlsKeyLog, Array((first.keys + second.keys).utf8))
        }
        guard index < segments.count else { break }
        file.enhancedPacket(ticks: UInt64(index), Readout.packet(segments[index]))
      }
      let readout = try Readout(file: file.bytes)
      #expect(readout.notes == [])
      for number in 1...2 {
        let packets = readout.events.compactMap { event -> [UInt8]? in
          guard case .mqtt(let packet) = event.body, event.context.connection == number else {
            return nil
          }
          return packet.bytes
        }
        #expect(packets.filter { [1, 3, 12, 14].contains($0[0] >> 4) }.count == 5, "\(number)")
        #expect(
          Set(packets) == Set(TLSSessions.fromClient + TLSSessions.fromServer), "\(number)")
      }
      try Self.withFile(file.bytes) { path in
        // tshark takes secrets that stand in front of what they decrypt only.
        guard place == 0 else { return }
        let lines = try Tshark.lines(
          path, ["-d", "tls.port==8883,mqtt", "-Y", "mqtt"], fields: ["frame.number"])
        let frames = readout.events.compactMap { event -> String? in
          guard case .mqtt = event.body else { return nil }
          return "\(event.context.frame)"
        }
        #expect(Set(lines.map(String.init)) == Set(frames))
      }
    }

    /// The key log grows while the capture comes through a pipe.
    @Test(arguments: [Self.name, "ECDHE-RSA-AES128-GCM-SHA256", "early-2"])
    func `a pipe waits for keys that come late, also while nothing comes of it`(
      _ name: String
    ) throws {
      let session = try TLSSessions.named(name)
      let bytes = Self.pcapng(session, secretsBehind: nil)
      let whole = try Self.withFile(Array(session.keys.utf8)) { path in
        try Readout(file: bytes, options: InputOptions(keyLogs: [path]))
      }
      try Self.withFile([]) { log in
        let pipe = log + ".pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        let (told, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // The last segments come when the first event was told, which is before them only if the pipe was not waited for.
        let last = bytes.count - 500
        let wasTold = Mutex(false)
        Thread.detachNewThread {
          let file = FileHandle(forWritingAtPath: pipe)
          try? file?.write(contentsOf: Data(bytes[..<last]))
          // All of it is read before there is a key.
          var unread: Int32 = 1
          while let file, ioctl(file.fileDescriptor, UInt(FIONREAD), &unread) == 0, unread > 0 {
            sched_yield()
          }
          let keys = FileHandle(forWritingAtPath: log)
          try? keys?.write(contentsOf: Data(session.keys.utf8))
          wasTold.withLock { $0 = told.wait(timeout: .now() + 60) == .success }
          try? file?.write(contentsOf: Data(bytes[last...]))
          try? file?.close()
          isWritten.signal()
        }
        var list = TellingList(told: told)
        let summary = try SessionInput.read(
          pipe, options: InputOptions(keyLogs: [log]), into: &list)
        isWritten.wait()
        #expect(wasTold.withLock { $0 })
        #expect(list.list.events == whole.events)
        #expect(summary.notes == [])
      }
    }

    /// What a stream brings is read once, so that secrets behind what they decrypt are told and of no use.
    @Test(arguments: [Self.name, "ECDHE-RSA-AES128-GCM-SHA256"], [true, false])
    func `secrets at the end of a stream come too late, which is told`(
      _ name: String, _ isLate: Bool
    ) throws {
      let session = try TLSSessions.named(name)
      let bytes = Self.pcapng(session, secretsBehind: isLate ? .max : 0)
      let pipe = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      try #require(mkfifo(pipe, 0o600) == 0)
      defer { unlink(pipe) }
      Thread.detachNewThread {
        let file = FileHandle(forWritingAtPath: pipe)
        try? file?.write(contentsOf: Data(bytes))
        try? file?.close()
      }
      var list = EventList()
      let summary = try SessionInput.read(pipe, options: InputOptions(), into: &list)
      #expect(Self.controlPackets(list.events) == (isLate ? 0 : Self.packets))
      let note =
        "the secrets of 1 connection stand behind it in a stream, which is read once: save it to a file, and "
        + "name that"
      // What could not be read is told of as well.
      #expect(summary.notes.contains(note) == isLate && summary.notes.isEmpty != isLate)
    }

    /// Keeps events, and says when the first one is here.
    private struct TellingList: EventConsumer {
      var list = EventList()
      let told: DispatchSemaphore

      mutating func consume(_ event: borrowing EventView) throws {
        list.consume(event)
        told.signal()
      }
    }

    @Test func `of what can be read once, only blocks before the handshake count`() throws {
      let session = try TLSSessions.named(Self.name)
      for (place, isRead) in [(0, true), (4, true), (40, false)] {
        var list = EventList()
        let bytes = Self.pcapng(session, secretsBehind: place)
        let emitter = SessionEmitter { list.consume($0) }
        var capture = try CaptureSession(
          CaptureReader(ByteSource(bytes: bytes)), InputOptions(), emitter, rereading: [])
        while try capture.read(.max) {}
        let summary = try capture.finish()
        #expect(Self.controlPackets(list.events) == (isRead ? Self.packets : 0), "\(place)")
        #expect(summary.notes.isEmpty == isRead)
      }
    }

    @Test func `a wrong line of a block is told by its place`() throws {
      let session = try TLSSessions.named(Self.name)
      let keys = "CLIENT_TRAFFIC_SECRET_0 ab\n" + session.keys
      let readout = try Readout(file: Self.pcapng(session, secretsBehind: 2, keys))
      #expect(Self.controlPackets(readout.events) == Self.packets)
      #expect(
        readout.notes == [
          "the secrets behind frame 2, line 1: CLIENT_TRAFFIC_SECRET_0 needs a random of 64 "
            + "hexadecimal digits and a secret of 64 or 96; write the key log anew"
        ])
    }

    @Test(arguments: [true, false])
    func `a key log is taken from its file, though its last line has no end`(
      _ isEnded: Bool
    ) throws {
      let session = try TLSSessions.named("AES128-SHA")
      let keys = Array(session.keys.utf8)
      let text = isEnded ? keys : Array(keys.dropLast())
      try Self.withFile(text) { path in
        let readout = try Readout(
          file: Self.pcapng(session, secretsBehind: nil), options: InputOptions(keyLogs: [path]))
        #expect(Self.controlPackets(readout.events) == Self.packets)
        #expect(readout.notes == [])
      }
    }

    @Test func `a key log that grows is read on`() throws {
      let session = try TLSSessions.named(Self.name)
      let keys = Array(session.keys.utf8)
      try Self.withFile(Array(keys.prefix(keys.count / 2))) { path in
        let secrets = TLSSecrets(keyLogs: [try TLSKeyLogFile(path)])
        #expect(secrets.secret(.clientTraffic, of: [UInt8](repeating: 0, count: 32)) == nil)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(keys.dropFirst(keys.count / 2)))
        let tap = Tap(session.dialogue().segments, secrets: secrets)
        #expect(Self.controlPackets(tap.events) == Self.packets)
      }
    }

    @Test func `a key log that is not there is an error that names it`() throws {
      let session = try TLSSessions.named(Self.name)
      let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      let error = #expect(throws: CaptureError.self) {
        try Readout(
          file: Self.pcapng(session, secretsBehind: nil), options: InputOptions(keyLogs: [path]))
      }
      #expect(error?.code == .notFound && error?.file == path)
    }

    @Test func `no secret is in any note`() throws {
      let session = try TLSSessions.named(Self.name)
      let wrong = session.keys.replacing(" ", with: "  ").replacing("\n", with: "0\n")
      let tap = Tap(session.dialogue().segments, secrets: session.secrets(wrong))
      #expect(tap.events.count == 1 && tap.notes.count > 3)
      for line in session.keys.split(separator: "\n") where !line.hasPrefix("#") {
        let secret = line.split(separator: " ").last.map(String.init) ?? ""
        #expect(!tap.notes.contains { $0.contains(secret.prefix(8)) })
        #expect(!"\(tap.events)".contains(secret.prefix(8)))
      }
    }
  }
#endif
