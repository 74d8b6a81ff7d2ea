#if !canImport(CryptoKit)
  import Foundation
  import RepriseCore
  import TestSupport
  import Testing

  @testable import Capture

  /// Keys that are written down later than what they encrypt is captured.
  @Suite struct TLSWaitingTests {
    /// A session as it comes off the wire, and a key log that is empty at first, or not there at all.
    private final class Live {
      let session: TLSSessions.Recorded
      private var reader: CaptureReader
      private var frames: FrameSession
      private let list: List
      let path: String
      /// As many frames as there are.
      let count: Int

      final class List {
        var events = EventList()
      }

      init(_ name: String, keys: Bool = true, isThere: Bool = true) throws {
        session = try TLSSessions.named(name)
        let segments = session.dialogue().segments
        count = segments.count
        reader = try CaptureReader(ByteSource(bytes: Self.pcapng(session)))
        path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        if isThere { try Data().write(to: URL(filePath: path)) }
        let list = List()
        self.list = list
        frames = try FrameSession(live: InputOptions(keyLogs: keys ? [path] : [])) {
          list.events.consume($0)
        }
      }

      deinit { try? FileManager.default.removeItem(atPath: path) }

      static func pcapng(_ session: TLSSessions.Recorded) -> [UInt8] {
        var file = PcapngBuilder()
        file.section()
        file.interface(linkType: 101)
        for segment in session.dialogue().segments { file.enhancedPacket(Readout.packet(segment)) }
        return file.bytes
      }

      /// Takes so many frames.
      func take(_ count: Int = .max) throws {
        var left = count
        while left > 0, let frame = try reader.next() {
          frames.take(frame)
          left -= 1
        }
      }

      func settle(at milliseconds: Int64) -> Bool {
        frames.settle(Timestamp(nanoseconds: milliseconds * 1_000_000)) != nil
      }

      /// Writes down keys.
      func write(_ text: some StringProtocol) throws {
        if !FileManager.default.fileExists(atPath: path) {
          try Data().write(to: URL(filePath: path))
        }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
      }

      var events: [Event] { list.events.events }

      func finish() throws -> [String] { try frames.finish(frames: count).notes }
    }

    /// What is read of the same session when the capture and its keys lie there.
    private static func offline(_ live: Live, _ keys: String) throws -> Readout {
      let temporary = try TemporaryFile(Array(keys.utf8))
      return try Readout(
        file: Live.pcapng(live.session), options: InputOptions(keyLogs: [temporary.path]))
    }

    private static let names = [
      "TLS_AES_128_GCM_SHA256", "retry", "update-both", "padded", "ECDHE-RSA-AES128-GCM-SHA256",
      "AES128-SHA", "renegotiated", "resumed-ticket-2", "resumed-id-2", "early-2",
      "only-shared-early_SHA384", "unheard-2", "unheard-retry-2",
    ]

    @Test(arguments: names)
    func `keys that come late open everything from the start`(_ name: String) throws {
      let count = try Live(name).count
      for place in stride(from: 1, to: count - 4, by: max(1, count / 12)) {
        let live = try Live(name)
        try live.take(place)
        _ = live.settle(at: 1_000)
        try live.write(live.session.keys)
        #expect(!live.settle(at: 1_050))
        try live.take()
        #expect(try live.finish() == [])
        let offline = try Self.offline(live, live.session.keys)
        #expect(live.events == offline.events, "\(place)")
        #expect(offline.notes == [])
      }
    }

    /// Programs make the file with the first secret that they have.
    @Test(arguments: names)
    func `a key log that comes late opens everything from the start`(_ name: String) throws {
      let live = try Live(name, isThere: false)
      try live.take(live.count / 2)
      _ = live.settle(at: 1_000)
      try live.write(live.session.keys)
      try live.take()
      #expect(try live.finish() == [])
      #expect(live.events == (try Self.offline(live, live.session.keys)).events)
    }

    @Test func `a key log that never comes is named`() throws {
      let live = try Live("TLS_AES_128_GCM_SHA256", isThere: false)
      try live.take()
      let notes = try live.finish()
      let offline = try Self.offline(live, "")
      #expect(notes == ["\(live.path) never came: check its path"] + Self.others(offline.notes))
      #expect(live.events == offline.events)
    }

    /// A line of the log is there in part only; and it is the connection's end that asks last.
    @Test(arguments: names)
    func `half a key is waited for on`(_ name: String) throws {
      let live = try Live(name)
      let keys = live.session.keys
      try live.take(live.count - 4)
      let half = try #require(keys.range(of: "_", options: .backwards)?.lowerBound)
      try live.write(keys[..<half])
      _ = live.settle(at: 1_000)
      try live.write(keys[half...])
      try live.take()
      #expect(try live.finish() == [])
      #expect(live.events == (try Self.offline(live, keys)).events)
    }

    @Test(arguments: ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "early-2"])
    func `keys that do not come are waited for so long only`(_ name: String) throws {
      let live = try Live(name)
      let place = live.count / 2
      try live.take(place)
      #expect(live.settle(at: 1_000))
      #expect(live.settle(at: 2_999))
      #expect(live.events == [])
      #expect(!live.settle(at: 3_000))
      let offline = try Self.offline(live, "")
      #expect(live.events == offline.events)
      #expect(live.events.count == 1)
      // Then it is over, whatever comes.
      try live.write(live.session.keys)
      try live.take()
      #expect(!live.settle(at: 3_050))
      #expect(try live.finish() == Self.others(offline.notes))
      #expect(live.events == offline.events)
    }

    /// The notes that are not about the key log itself.
    private static func others(_ notes: [String]) -> [String] {
      notes.filter { !$0.hasSuffix(" holds no secret: it is empty") }
    }

    @Test func `where no key log is named nothing is waited for`() throws {
      let live = try Live("TLS_AES_128_GCM_SHA256", keys: false)
      try live.take(live.count / 2)
      #expect(!live.settle(at: 1_000))
      #expect(live.events.count == 1)
      try live.take()
      let offline = try Readout(file: Live.pcapng(live.session))
      #expect(try live.finish() == offline.notes)
      #expect(live.events == offline.events)
    }

    /// What waits is part of what may be kept.
    @Test func `what waits is given up where memory is short`() throws {
      let session = try TLSSessions.named("TLS_AES_128_GCM_SHA256")
      let temporary = try TemporaryFile([])
      let list = Live.List()
      var frames = try FrameSession(live: InputOptions(keyLogs: [temporary.path], memory: 20_000)) {
        list.events.consume($0)
      }
      var reader = try CaptureReader(ByteSource(bytes: Live.pcapng(session)))
      while let frame = try reader.next() { frames.take(frame) }
      try Data(session.keys.utf8).write(to: URL(filePath: temporary.path))
      let notes = try frames.finish(frames: reader.framesRead).notes
      #expect(notes.contains { $0.contains("more than --memory allows") })
      #expect(list.events.events.count == 1)
    }
  }
#endif
