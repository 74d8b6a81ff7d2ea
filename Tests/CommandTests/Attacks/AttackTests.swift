import Foundation
import TestSupport
import Testing
import Wire
import WireDeflate

/// Files that are made to take memory or time: the command ends with a status of its own, and within
/// bounds.
///
/// The command by itself, as it is built for tests, takes about 33 MiB. Where everything unfinished
/// shares `--memory 4M`, a bound of 80 MiB leaves room for that, for a packet of 1 MiB in the three or
/// four places that it passes, and for what the allocator keeps; without what holds the attack back each
/// would take more than 90 MiB, or a quarter more than the bound that its row states.
@Suite struct AttackTests {
  /// A file, what is typed, and the bound.
  struct Attack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var words = ["conform", "trace", "--allow-empty", "--memory", "4M"]
    /// The most memory, in MiB.
    var bound = 80
    let write: @Sendable (AttackCapture) throws -> Void
  }

  private static let mebibyte = 1 << 20

  /// The start of a PUBLISH of 16 MiB that never ends.
  private static func unfinished(_ count: Int) -> [UInt8] {
    let start: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0x07, 0, 1, 0x74]
    return start + [UInt8](repeating: 0x78, count: count)
  }

  /// A packet with a remaining length of four bytes.
  private static func packet(_ firstByte: UInt8, _ body: [UInt8]) -> [UInt8] {
    var packet = [firstByte]
    for place in 0..<4 {
      let digit = UInt8(truncatingIfNeeded: body.count >> (7 * place)) & 0x7F
      packet.append(place < 3 ? digit | 0x80 : digit)
    }
    return packet + body
  }

  /// A request for WebSocket with another header line.
  private static func request(_ line: String) -> [UInt8] {
    let head = """
      GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(line)\r\n\r\n
      """
    return Array(head.utf8)
  }

  private static func deflated(_ message: [UInt8]) -> [UInt8] {
    var deflater = WebSocketDeflater()
    return deflater?.deflate(message) ?? []
  }

  static let attacks: [Attack] = [
    Attack(testDescription: "unfinished packets, compressed", bound: 60) { file in
      let connect = MQTTPacket(.connect(.init(clientID: "c")), version: .v3_1_1)
      let message = deflated(try connect.encoded() + unfinished(mebibyte))
      for connection in 0..<60 {
        try file.openWebSocket(connection)
        try file.send(frame: 0xC2, message, on: connection)
      }
    },
    Attack(testDescription: "unfinished packets") { file in
      for connection in 0..<60 { try file.openMQTT(connection) }
      let start = unfinished(mebibyte)
      for connection in 0..<60 { try file.send(start, on: connection) }
    },
    // 300 bytes of memory a bad code, before only the first were kept: 150 MiB.
    Attack(testDescription: "bad codes in one SUBACK") { file in
      try file.openMQTT(0)
      try file.send([0x82, 6, 0, 1, 0, 1, 0x61, 0], on: 0)
      let codes = [UInt8](repeating: 3, count: mebibyte / 2)
      try file.send(packet(0x90, [0, 1] + codes), on: 0, isClient: false)
      try file.send([0xC0, 0], on: 0)
    },
    Attack(testDescription: "bad filters in one SUBSCRIBE") { file in
      try file.openMQTT(0)
      let filter: [UInt8] = [0, 2, 0x61, 0x23, 0]
      let filters = (0..<100_000).flatMap { _ in filter }
      try file.send(packet(0x82, [0, 1] + filters), on: 0)
      try file.send([0xC0, 0], on: 0)
    },
    // What inflates takes 44 KiB, of which 4 MiB have room for 93.
    Attack(testDescription: "connections that inflate") { file in
      let message = deflated(Array("hello".utf8))
      for connection in 0..<1_500 {
        try file.openWebSocket(connection)
        try file.send(frame: 0xC1, message, on: connection)
      }
    },
    Attack(testDescription: "heads of HTTP that never end") { file in
      let head = "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 60_000)
      for connection in 0..<1_200 {
        try file.open(connection, port: 80)
        try file.send(Array(head.utf8), on: connection, port: 80)
      }
    },
    // Of a request that was read nothing is kept but what its answer is compared with.
    Attack(testDescription: "requests for WebSocket that nobody answers", bound: 64) { file in
      let head = request("X: " + String(repeating: "a", count: 60_000))
      for connection in 0..<700 {
        try file.open(connection, port: 80)
        try file.send(head, on: connection, port: 80)
      }
    },
    // Two bytes of text each; as values they take 40.
    Attack(testDescription: "extensions with many parameters") { file in
      let offers = String(repeating: ";a", count: 30_000)
      let head = request("Sec-WebSocket-Extensions: x" + offers)
      for connection in 0..<60 {
        try file.open(connection, port: 80)
        try file.send(head, on: connection, port: 80)
      }
    },
    // The filter has a quarter of the memory, in which 17 of these topics have room.
    Attack(
      testDescription: "topics behind aliases",
      words: ["inspect", "--memory", "4M", "--filter", #"topic ~ "x""#]
    ) { file in
      for connection in 0..<4 { try file.openMQTT(connection, .v5_0) }
      let topic: [UInt8] = [0xEA, 0x60] + [UInt8](repeating: 0x74, count: 60_000)
      for connection in 0..<4 {
        for alias in 1...250 {
          let property: [UInt8] = [3, 0x23, 0, UInt8(alias)]
          try file.send(packet(0x30, topic + property), on: connection)
        }
      }
    },
    Attack(testDescription: "PINGs of 1 MiB that nobody answers") { file in
      try file.openWebSocket(0)
      let data = [UInt8](repeating: 0x78, count: mebibyte)
      for _ in 0..<40 { try file.send(frame: 0x89, data, on: 0) }
    },
    Attack(testDescription: "SUBACKs of 1 MiB that nobody asked for") { file in
      try file.openMQTT(0)
      for id in 1...UInt8(64) {
        let codes = [UInt8](repeating: 1, count: mebibyte)
        try file.send(packet(0x90, [0, id] + codes), on: 0, isClient: false)
      }
    },
    // Each is a finding, which shows its packet.
    Attack(testDescription: "bad packets of 1 MiB") { file in
      try file.openMQTT(0)
      let body: [UInt8] = [0, 2, 0x61, 0x23] + [UInt8](repeating: 0x78, count: mebibyte)
      for _ in 0..<32 { try file.send(packet(0x30, body), on: 0) }
    },
    // Each frame waits for the first packet, which shows whether it should have been binary.
    Attack(testDescription: "TEXT of 256 KiB in place of packets", bound: 60) { file in
      let text = [UInt8](repeating: 0x78, count: mebibyte / 4)
      for connection in 0..<128 {
        try file.openWebSocket(connection)
        try file.send(frame: 0x81, text, on: connection)
      }
    },
    // From here on it is the judge that keeps things: 480 KiB for these messages.
    Attack(testDescription: "messages that nobody answers, on many connections") { file in
      for connection in 0..<150 { try file.openMQTT(connection) }
      for connection in 0..<150 { try file.send(messages, on: connection) }
    },
    Attack(testDescription: "requests that nobody answers, on many connections") { file in
      let requests = (1...UInt16(4_096)).flatMap { id in
        [0x82, 6] + bytes(of: id) + [0, 1, 0x61, 0] as [UInt8]
      }
      for connection in 0..<80 { try file.openMQTT(connection) }
      for connection in 0..<80 { try file.send(requests, on: connection) }
    },
    Attack(testDescription: "filters with many levels, on many connections") { file in
      let filters = (0..<4_000).flatMap { number in
        let text = Array("\(number)/+/a/b/c/d/e/f/g/h/i/j/k/l".utf8)
        return bytes(of: UInt16(text.count)) + text + [0]
      }
      for connection in 0..<25 { try file.openMQTT(connection) }
      for connection in 0..<25 {
        try file.send(packet(0x82, [0, 1] + filters), on: connection)
      }
    },
    Attack(testDescription: "answers of 16 KiB that wait to be judged, on many connections") {
      file in
      let codes = [UInt8](repeating: 1, count: 16 << 10)
      for connection in 0..<64 { try file.openMQTT(connection) }
      for connection in 0..<64 {
        for id in 1...UInt8(64) {
          try file.send(packet(0x90, [0, id] + codes), on: connection, isClient: false)
        }
      }
    },
    // Half of it is what the reader knows of each connection.
    Attack(testDescription: "connections that stay open") { file in
      for connection in 0..<20_000 { try file.openMQTT(connection) }
    },
  ]

  /// Messages of QoS 1, each under its identifier.
  private static let messages = (1...UInt16(2_050)).flatMap { id in
    [0x32, 6, 0, 1, 0x74] + bytes(of: id) + [0x78] as [UInt8]
  }

  private static func bytes(of number: UInt16) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 0xFF)]
  }

  @Test("What a judge gives up is said, and accuses nobody")
  func judgeGivesUp() throws {
    let scratch = Scratch()
    let file = try AttackCapture(in: scratch)
    for connection in 0..<4 { try file.openMQTT(connection) }
    for _ in 0..<2 {
      for connection in 0..<4 { try file.send(Self.messages, on: connection) }
      for id in 1...UInt16(2_050) {
        for connection in 0..<4 {
          try file.send([0x40, 2] + Self.bytes(of: id), on: connection, isClient: false)
        }
      }
    }
    try file.finish()
    func judged(_ memory: String) throws -> (note: Int, isReason: Bool) {
      let words = "conform trace --clause MQTT-3.3.4-1 --memory \(memory) "
      let result = try RepriseProcess.shell(
        "$reprise \(words) \(RepriseProcess.quoted(file.path))")
      #expect(result.status == 0)
      let notes = result.errors.split(separator: "\n").count {
        $0.contains("times what was known of a connection was given up while it was judged")
      }
      let text = result.output.split { $0.isWhitespace }.joined(separator: " ")
      return (notes, text.contains("what was known of the connection was given up"))
    }
    let whole = try judged("64M")
    #expect(whole == (0, false))
    let less = try judged("8M")
    #expect(less == (1, true))
  }

  @Test("A capture takes no more memory than it may", arguments: attacks)
  func capture(_ attack: Attack) throws {
    let scratch = Scratch()
    let file = try AttackCapture(in: scratch)
    try attack.write(file)
    try file.finish()
    try expectBounded(attack.words + [file.path], attack.bound)
  }

  private func expectBounded(_ words: [String], _ bound: Int) throws {
    let result = try MeasuredProcess.run(words)
    #expect((0...2).contains(result.status), "\(result.errors)")
    guard !MeasuredProcess.isInstrumented else { return }
    #expect(result.peak < bound << 20, "\(result.peak >> 20) MiB")
    #expect(result.seconds < 20)
  }

  /// Each value is three bytes in the file; with room for 16 members in each object it took 700.
  @Test("A line of JSON takes no more memory than it may", arguments: ["{}", "[]", #"{"":0}"#])
  func line(_ value: String) throws {
    let scratch = Scratch()
    let values = Array(repeating: value, count: 100_000).joined(separator: ",")
    let file = try scratch.write(
      SampleRecording.text + #"{"x":["# + values + "]}\n", to: "line.jsonl")
    try expectBounded(["inspect", file.path], 64)
  }

  @Test("What is written of a bomb is said, once, when it is much more than there was")
  func bomb() throws {
    let scratch = Scratch()
    let file = try AttackCapture(in: scratch)
    try file.openWebSocket(0)
    let message = Self.deflated([UInt8](repeating: 0x78, count: Self.mebibyte))
    for _ in 0..<8 { try file.send(frame: 0xC1, message, on: 0) }
    try file.finish()
    let zipped = try RepriseProcess.shell("gzip -k \(RepriseProcess.quoted(file.path))")
    #expect(zipped.status == 0)
    for path in [file.path, file.path + ".gz"] {
      let result = try MeasuredProcess.run(["convert", path, "-o", "-"])
      #expect(result.status == 0)
      #expect(Self.growth(result) == Self.growth(of: path))
      #expect(
        result.peak < 96 << 20 || MeasuredProcess.isInstrumented, "\(result.peak >> 20) MiB")
    }
    // As large, but as large as the file.
    let plain = try AttackCapture(in: scratch, "plain.pcap")
    try plain.openMQTT(0)
    let body: [UInt8] = [0, 1, 0x74] + [UInt8](repeating: 0x78, count: Self.mebibyte)
    let publish = Self.packet(0x30, body)
    for _ in 0..<8 { try plain.send(publish, on: 0) }
    try plain.finish()
    let result = try MeasuredProcess.run(["convert", plain.path, "-o", "-"])
    #expect(result.status == 0 && result.errors.isEmpty)
  }

  @Test("A bomb is inflated up to a bound, which is said, and accuses nobody")
  func bombOfMessages() throws {
    let scratch = Scratch()
    let file = try AttackCapture(in: scratch)
    try file.openWebSocket(0)
    let connect = MQTTPacket(.connect(.init(clientID: "c")), version: .v3_1_1)
    try file.send(frame: 0x82, try connect.encoded(), on: 0)
    try file.send([0x82, 4, 0x20, 2, 0, 0], on: 0, port: 80, isClient: false)
    let payload = [UInt8](repeating: 0x78, count: 6 * Self.mebibyte)
    for id in 1...UInt8(8) {
      let body: [UInt8] = [0, 1, 0x74, 0, id] + payload
      try file.send(frame: 0xC2, Self.deflated(Self.packet(0x32, body)), on: 0)
      try file.send([0x82, 4, 0x40, 2, 0, id], on: 0, port: 80, isClient: false)
    }
    try file.finish()
    // 32 MiB and a hundred times the 6 KiB of each have room for five.
    let judged = try MeasuredProcess.run(["conform", "trace", "--spec", "mqtt-3.1.1", file.path])
    #expect(judged.status == 0)
    #expect(judged.errors.contains("note: 3 compressed messages of WebSocket are not inflated"))
    let shown = try RepriseProcess.shell(
      "$reprise inspect \(RepriseProcess.quoted(file.path)) | cut -c1-500 "
        + "| grep -oE 'PUBLISH|not inflated: few bytes become too many' | LC_ALL=C sort | uniq -c")
    #expect(
      shown.output.split { $0.isWhitespace }.joined(separator: " ")
        == "5 PUBLISH 3 not inflated: few bytes become too many")
  }

  @Test("What inspect writes of a bomb of many packets is said for the file that is one, once")
  func bombOfLines() throws {
    let scratch = Scratch()
    let file = try AttackCapture(in: scratch)
    try file.openMQTT(0)
    let publish: [UInt8] = [0x30, 18, 0, 1, 0x74] + [UInt8](repeating: 0x78, count: 15)
    try file.send((0..<30_000).flatMap { _ in publish }, on: 0)
    try file.finish()
    let zipped = try RepriseProcess.shell("gzip -k \(RepriseProcess.quoted(file.path))")
    #expect(zipped.status == 0)
    let bomb = file.path + ".gz"
    for format in ["text", "jsonl"] {
      let result = try MeasuredProcess.run(
        ["inspect", "--format", format, file.path, bomb, file.path])
      #expect(result.status == 0 && Self.growth(result) == Self.growth(of: bomb))
    }
  }

  /// The notes that much is written.
  private static func growth(_ result: MeasuredProcess) -> [String] {
    result.errors.split(separator: "\n").map(String.init).filter { $0.contains("much") }
  }

  private static func growth(of path: String) -> [String] {
    [
      "reprise: \(path): note: more than 100 times as much is written as the file has: it holds what "
        + "is compressed, which is written inflated; end with Ctrl-C if that is not wanted"
    ]
  }
}
