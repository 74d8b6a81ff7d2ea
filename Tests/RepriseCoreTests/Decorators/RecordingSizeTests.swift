import RepriseCore
import Synchronization
import Testing
import Wire

/// The files of a recording, one after the other.
private final class Files: Sendable {
  private let finished = Mutex<[MemorySink]>([])

  @Sendable func next(_ sink: MemorySink) -> MemorySink {
    finished.withLock { $0.append(sink) }
    return MemorySink()
  }

  func all(_ last: MemorySink) -> [MemorySink] { finished.withLock { $0 } + [last] }
}

@Suite struct RecordingSizeTests {
  private static func packets(_ events: [Event]) -> [MQTTPacket] { events.compactMap(\.packet) }

  /// Runs the same user on the same world, recorded to one file or to many.
  private static func files(
    seed: UInt64, limit: Int?, version: MQTTVersion = .v3_1_1
  ) async throws -> [MemorySink] {
    let files = Files()
    let recorder = try RecordingClient(
      RandomServer(seed: seed, losses: Int(seed % 4)), to: MemorySink(), url: "mqtt://test",
      version: version, limit: limit, nextSink: limit == nil ? nil : files.next)
    _ = try await RandomUser.run(recorder, seed: seed)
    try recorder.finish()
    return files.all(recorder.sink)
  }

  @Test(arguments: Array(0..<20) as [UInt64], [1_500, 4_096])
  func goesOnInFilesThatHoldTheSame(_ seed: UInt64, _ limit: Int) async throws {
    let whole = try await Self.files(seed: seed, limit: nil)
    let parts = try await Self.files(seed: seed, limit: limit)
    try #require(whole.count == 1)
    #expect(parts.count > 2)
    var packets: [MQTTPacket] = []
    for (index, part) in parts.enumerated() {
      #expect(part.bytes.count <= limit)
      #expect(part.text.contains("\"part\":\(index + 1)}"))
      let events = try part.events()
      packets += Self.packets(events)
      // Each file counts its own lines and connections, and is complete.
      #expect(events.map(\.context.frame) == Array(2..<(events.count + 2)))
      if let first = events.first {
        guard case .opened = first.body else {
          Issue.record("\(first)")
          continue
        }
        #expect(first.context.connection == 1)
      }
      var open: Set<Int> = []
      for event in events {
        switch event.body {
        case .opened: open.insert(event.context.connection)
        case .closed: open.remove(event.context.connection)
        case .attempted: continue
        default: #expect(open.contains(event.context.connection))
        }
      }
      #expect(open.isEmpty)
    }
    #expect(try packets == Self.packets(whole[0].events()))
  }

  @Test func givesAHugeEventAFileOfItsOwn() async throws {
    let files = Files()
    let recorder = try RecordingClient(
      LocalFileClient(files: [:]), to: MemorySink(), limit: 1_500, nextSink: files.next)
    var user = Actor(recorder)
    try await user.connect()
    _ = try await recorder.next(before: nil)
    for _ in 0..<2 {
      try recorder.note(.message(Message("t", String(repeating: "x", count: 3_000))))
    }
    try recorder.finish()
    let sizes = files.all(recorder.sink).map(\.bytes.count)
    try #require(sizes.count == 3)
    #expect(sizes[0] <= 1_500)
    #expect(sizes[1] > 3_000)
    #expect(sizes[2] > 3_000)
    #expect(try recorder.sink.events().last?.shortName == "CLOSE")
  }

  @Test(arguments: Array(0..<20) as [UInt64])
  func endsBeforeItIsLarger(_ seed: UInt64) async throws {
    let limit = 3_000
    let recorder = try RecordingClient(
      RandomServer(seed: seed, losses: 2), to: MemorySink(), limit: limit)
    let error = await #expect(throws: DataClientError.self) {
      try await RandomUser.run(recorder, seed: seed)
    }
    #expect(error?.code == .recordingFull)
    let again = await #expect(throws: DataClientError.self) {
      try await recorder.next(before: nil)
    }
    #expect(again?.code == .recordingFull)
    try recorder.finish()
    #expect(recorder.sink.bytes.count <= limit)
    switch try recorder.sink.events().last?.body {
    case .closed(let closing): #expect(closing.how == .endOfCapture)
    case .attempted(let attempt): #expect(attempt.how == .endOfCapture)
    case let other: Issue.record("neither closed nor never open: \(String(describing: other))")
    }
  }

  @Test func beginsANewFileWhenItIsToldTo() async throws {
    let files = Files()
    let recorder = try RecordingClient(
      RandomServer(seed: 1), to: MemorySink(), nextSink: files.next)
    try recorder.startNextFile()
    var user = Actor(recorder)
    try await user.connect()
    _ = try await recorder.next(before: nil)
    try recorder.startNextFile()
    try recorder.finish()
    let types = try files.all(recorder.sink).map { try $0.events().map(\.shortName) }
    #expect(types == [[], ["OPEN", "CONNECT", "CONNACK", "CLOSE"], ["open", "CLOSE"]])
    // Without a place for more, all stays in one file.
    let single = try RecordingClient(RandomServer(seed: 1), to: MemorySink())
    try single.startNextFile()
    #expect(single.sink.text.split(separator: "\n").count == 1)
  }

  @Test func namesTheVersionThatIsSpoken() async throws {
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      let recording = try #require(
        try await Self.files(seed: 7, limit: nil, version: version).first)
      let events = try recording.events()
      #expect(events.count > 30)
      for event in events {
        #expect(event.context.wire == .mqtt(version))
        let faults = event.withView { view -> [MQTTFault] in
          if case .mqtt(let packet) = view.body { packet.faults } else { [] }
        }
        #expect(faults.isEmpty, "\(event)")
      }
    }
  }

  @Test func saysThatItHasNoPings() async throws {
    let recording = try #require(try await Self.files(seed: 7, limit: nil).first)
    for case .opened(let opening) in try recording.events().map(\.body) {
      #expect(!opening.hasPings)
    }
    #expect(recording.text.contains(#""pings":false"#))
  }
}

extension Event {
  /// The type; `open` is an opening whose start was not seen.
  fileprivate var shortName: String {
    switch body {
    case .opened(let opening): opening.isFromStart ? "OPEN" : "open"
    case .closed: "CLOSE"
    case .attempted: "ATTEMPT"
    case .handshake(let handshake): "\(handshake.name)"
    case .http(let part): "\(part.name)"
    case .tls(let part): "\(part.name)"
    case .webSocket(let frame): "\(frame.header.opcode.name)"
    case .gap: "GAP"
    case .malformed: "MALFORMED"
    case .mqtt:
      withView { view in
        if case .mqtt(let packet) = view.body { "\(packet.type.name)" } else { "" }
      }
    }
  }
}
