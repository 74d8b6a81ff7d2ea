import Foundation
import RepriseCore
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Capture

/// A capture that two threads read gives what one gives.
@Suite struct TwoThreadsTests {
  @Test(arguments: PackageFolder.captured)
  func recordingsGiveTheSame(_ name: String) throws {
    try Self.compare(PackageFolder.capture(name))
  }

  @Test(.capturesOfOthers, arguments: SharedCaptures.names)
  func capturesOfOthersGiveTheSame(_ name: String) throws {
    try Self.compare(SharedCaptures.path(name))
  }

  private static func compare(_ path: String) throws {
    let alone = outcome(path) { try SessionInput.read($0, into: &$1) }
    let apart = outcome(path) { try SessionInput.readApart([$0], InputOptions(), into: &$1) }
    #expect(alone.lines == apart.lines)
    #expect(alone.text == apart.text)
  }

  /// What is shown of each event, with all that is wrong with it: a copy of an event would leave that out.
  private struct Lines: EventConsumer {
    var writer = EventJSONWriter()
    var bytes: [UInt8] = []

    mutating func consume(_ event: borrowing EventView) { writer.appendLines(event, to: &bytes) }
  }

  /// The lines, and the summary or the error as text; what names the file and what does not is the same here.
  private static func outcome(
    _ path: String, _ read: (String, inout Lines) throws -> InputSummary
  ) -> (lines: String, text: String) {
    var lines = Lines()
    let text: String
    do {
      text = "\(try read(path, &lines))"
    } catch {
      text = "\(error)".replacing("\(path): ", with: "")
    }
    return (String(decoding: lines.bytes, as: UTF8.self), text)
  }

  /// A WebSocket with a frame that has no mask and one that is sent before the answer.
  @Test func whatIsWrongWithFramesGoesWithThem() throws {
    var capture = TCPCapture(serverPort: 80)
    capture.open(0)
    let request = """
      GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n
      """
    capture.send(0, .client, Array(request.utf8) + [0x81, 0x81, 1, 2, 3, 4, 0x60])
    let answer = """
      HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
      """
    capture.send(0, .server, Array(answer.utf8))
    capture.send(0, .client, [0x81, 0x01, 0x61])
    capture.send(0, .server, [0x83, 0x01, 0x61])
    capture.close(0, by: .client)
    let file = try TemporaryCapture(capture.bytes)
    try Self.compare(file.path)
    let shown = Self.outcome(file.path) {
      try SessionInput.readApart([$0], InputOptions(), into: &$1)
    }
    for code in ["before-answer", "unmasked-from-client", "reserved-opcode"] {
      #expect(shown.lines.contains("\"\(code)\""), "\(code) in \(shown.lines)")
    }
  }

  // MARK: Batches

  /// Messages of so many bytes, one connection each.
  private static func capture(ofMessages sizes: [Int]) -> [UInt8] {
    var capture = TCPCapture(serverPort: 1883)
    for (number, size) in sizes.enumerated() {
      capture.open(number)
      let connect = MQTTPacket.connect(clientID: "client-\(number)")
      capture.send(number, .client, connect)
      capture.send(number, .server, [0x20, 2, 0, 0])
      let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
      capture.send(number, .client, MQTTPacket.publish("a/b", payload))
      capture.close(number, by: .client)
    }
    return capture.bytes
  }

  @Test(arguments: [
    // Many batches by number, and many by bytes.
    [Int](repeating: 10, count: 2_500), [Int](repeating: 20_000, count: 40),
    // Some that are waited for, between others that are not.
    [10, 3 << 20, 10, 2 << 20, 2 << 20, 10],
  ])
  func batchesOfAnySizeGiveTheSame(_ sizes: [Int]) throws {
    let file = try TemporaryCapture(Self.capture(ofMessages: sizes))
    try Self.compare(file.path)
    var list = EventList()
    let summary = try SessionInput.read(file.path, options: InputOptions(jobs: 2), into: &list)
    #expect(summary.connections == sizes.count)
    #expect(list.events.count == sizes.count * 5)
    let lengths = list.events.compactMap { event -> Int? in
      guard case .mqtt(let packet) = event.body, packet.bytes.first == 0x30 else { return nil }
      return packet.size
    }
    #expect(
      lengths == sizes.map { MQTTPacket.publish("a/b", [UInt8](repeating: 0, count: $0)).count })
  }

  // MARK: The end

  private struct Refusal: Error, Equatable {
    let count: Int
  }

  /// Takes so many events, and then no more.
  private struct Weary: EventConsumer {
    let most: Int
    var count = 0

    mutating func consume(_ event: borrowing EventView) throws {
      guard count < most else { throw Refusal(count: count) }
      count += 1
    }
  }

  @Test(arguments: [0, 1, 1_023, 1_024, 1_025, 9_000, 12_499])
  func anErrorOfWhatTakesTheEventsEndsReading(_ most: Int) throws {
    let sizes = [Int](repeating: 10, count: 2_500)
    let file = try TemporaryCapture(Self.capture(ofMessages: sizes))
    var weary = Weary(most: most)
    #expect(throws: Refusal(count: most)) {
      try SessionInput.readApart([file.path], InputOptions(), into: &weary)
    }
    #expect(weary.count == most)
  }

  @Test func whatNobodyTakesIsNotRead() throws {
    let pipe = EventPipe()
    let sent = Mutex(0)
    let thread = try WorkerThread {
      var batch = EventBatch()
      for number in 0..<1_000 {
        batch.append(
          EventContext(
            time: Timestamp(nanoseconds: 0), frame: number, connection: 1, sender: .client,
            wire: .mqtt(.v3_1_1)),
          MQTTPacketView(
            [0xC0, 0].span.bytes,
            header: MQTTFixedHeader(firstByte: 0xC0, size: 2, remainingLength: 0),
            version: .v3_1_1))
        guard pipe.send(&batch) else { break }
        sent.withLock { $0 += 1 }
      }
      pipe.end(.success(InputSummary()))
    }
    #expect(throws: Refusal(count: 0)) {
      var weary = Weary(most: 0)
      _ = try pipe.drain(into: &weary)
    }
    thread.join()
    // Two places, one in the hands of each side.
    #expect((1...4).contains(sent.withLock { $0 }))
  }

  @Test func oneEventMoreThanThereAreIsNoError() throws {
    let file = try TemporaryCapture(Self.capture(ofMessages: [Int](repeating: 10, count: 2_500)))
    var weary = Weary(most: 12_500)
    let summary = try SessionInput.readApart([file.path], InputOptions(), into: &weary)
    #expect(weary.count == 12_500)
    #expect(summary.connections == 2_500)
  }

  @Test func anErrorOfTheFileIsThrownWithItsName() throws {
    var list = EventList()
    let missing = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    #expect(throws: CaptureError.self) {
      try SessionInput.read(missing, options: InputOptions(jobs: 2), into: &list)
    }
    // A filter that makes no sense is found on the other thread.
    let file = try TemporaryCapture(Self.capture(ofMessages: [300 << 10]))
    let error = try #require(throws: CaptureError.self) {
      try SessionInput.read(
        file.path, options: InputOptions(bpf: "no such thing", jobs: 2), into: &list)
    }
    #expect(error.code == .invalidFilter)
    #expect("\(error)".hasPrefix(file.path))
    #expect(list.events.isEmpty)
  }
}

extension MQTTPacket {
  fileprivate static func connect(clientID: String) -> [UInt8] {
    let id = Array(clientID.utf8)
    let body = [0, 4] + Array("MQTT".utf8) + [4, 2, 0, 60, 0, UInt8(id.count)] + id
    return [0x10, UInt8(body.count)] + body
  }

  fileprivate static func publish(_ topic: String, _ payload: [UInt8]) -> [UInt8] {
    let body = [0, UInt8(topic.utf8.count)] + Array(topic.utf8) + payload
    var length = body.count
    var header: [UInt8] = [0x30]
    repeat {
      header.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
      length >>= 7
    } while length > 0
    return header + body
  }
}
