import RepriseCore
import Testing
import Wire

@testable import LiveClient

/// The server's side of a connection, without a socket and in time of its own.
@Suite struct WebSocketServerMachineTests {
  private static let start = Timestamp(nanoseconds: 0)

  private static func after(_ duration: Duration) -> Timestamp { start.advanced(by: duration) }

  private static func opened(
    _ options: WebSocketServerOptions = WebSocketServerOptions(), extensions: String? = nil
  ) -> WebSocketServerMachine {
    var machine = WebSocketServerMachine(options, at: start) { _ in .accept }
    let request = RawClient.request("/", extensions: extensions).head.bytes
    _ = machine.received(request.span.bytes, at: start)
    _ = machine.written()
    return machine
  }

  // MARK: - Frames

  @Test(arguments: FrameRow.faults + FrameRow.texts)
  func saysTheSameWhateverPiecesTheBytesComeIn(row: FrameRow) {
    let options = WebSocketServerOptions(limits: WebSocketServerLimits(message: FrameRow.limit))
    var whole = Self.opened(options)
    let together = whole.received(row.bytes.span.bytes, at: Self.start).map { "\($0)" }
    var cut = Self.opened(options)
    var apart: [String] = []
    for byte in row.bytes {
      apart += cut.received([byte].span.bytes, at: Self.start).map { "\($0)" }
    }
    #expect(together == apart && whole.written() == cut.written())
    #expect(together.contains { $0.contains("failed(code: \(row.code ?? 0)") } == (row.code != nil))
  }

  @Test func answersAPingInsideAMessageAtOnce() {
    var machine = Self.opened()
    let first = FrameRow.frame(.text, [0x61], isFinal: false).encoded()
    let ping = FrameRow.frame(.ping, [1, 2, 3]).encoded()
    _ = machine.received((first + ping).span.bytes, at: Self.start)
    #expect(machine.written() == WebSocketFrame(.pong, [1, 2, 3]).encoded())
  }

  @Test func sendsNothingBehindItsClose() {
    var machine = Self.opened()
    _ = machine.send(.close(code: 1001, reason: "bye"), at: Self.start)
    _ = machine.send(.text("late"), at: Self.start)
    let ping = FrameRow.frame(.ping).encoded()
    _ = machine.received(ping.span.bytes, at: Self.start)
    #expect(
      machine.written() == WebSocketFrame(.close, [0x03, 0xE9] + Array("bye".utf8)).encoded())
  }

  @Test func dropsTheConnectionBehindWhatWasSent() {
    var machine = Self.opened()
    _ = machine.send(.text("a"), at: Self.start)
    let orders = machine.send(.drop, at: Self.start).map { "\($0)" }
    #expect(orders.count == 2 && orders.last == "finish")
    #expect(orders.first?.contains("dropped") == true)
    _ = machine.send(.text("late"), at: Self.start)
    #expect(machine.written() == WebSocketFrame(.text, [0x61]).encoded())
    // A client that does not go is cut off.
    #expect(machine.deadline == Self.after(.seconds(5)))
    let end = machine.passed(at: Self.after(.seconds(5)), isReading: true).map { "\($0)" }
    #expect(end == ["cut"])
  }

  @Test func shortensWhatItSaysOfAFaultToWholeCharacters() {
    var machine = Self.opened()
    machine.writeClose(1002, String(repeating: "ä", count: 100))
    #expect(machine.written().count == 2 + 2 + 122)
  }

  @Test(arguments: [nil, 1_000, 3_000] as [UInt16?])
  func holdsTheClientsCloseUntilItIsToAnswer(code: UInt16?) {
    var machine = Self.opened()
    machine.holdsClose = true
    let close = FrameRow.frame(.close, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])
    let none = machine.received(close.encoded().span.bytes, at: Self.start)
    #expect(none.isEmpty && machine.written() == [] && machine.phase == .open)
    #expect(machine.heldClose?.code == code)
    let orders = machine.send(.close(code: 1_001, reason: ""), at: Self.start).map { "\($0)" }
    #expect(machine.written() == WebSocketFrame(.close, [0x03, 0xE9]).encoded())
    #expect(orders.count == 2 && orders.last == "finish" && machine.phase == .draining)
    #expect(
      orders.first?.contains("byClient(code: \(code.map { "Optional(\($0))" } ?? "nil")") == true)
  }

  // MARK: - The opening handshake

  /// A machine whose client waits for an answer.
  private static func waiting() -> WebSocketServerMachine {
    var machine = WebSocketServerMachine(WebSocketServerOptions(), at: start) { _ in nil }
    let none = machine.received(RawClient.request("/a").head.bytes.span.bytes, at: start)
    #expect(none.isEmpty && machine.written() == [] && machine.phase == .handshake)
    // The caller that is to answer has all the time that it likes.
    #expect(machine.request?.target == "/a" && machine.deadline == nil)
    return machine
  }

  @Test func answersWhenItIsToldTo() {
    var machine = Self.waiting()
    let orders = machine.answer(.accept, at: Self.after(.seconds(60)))
    #expect(orders.count == 1 && machine.phase == .open && machine.request == nil)
    #expect(HTTPHead(machine.written()).startLine.hasPrefix("HTTP/1.1 101 "))
    #expect(machine.answer(.accept, at: Self.after(.seconds(61))).isEmpty)
    var other = Self.waiting()
    #expect(other.answer(.refuse(status: 403), at: Self.start).map { "\($0)" } == ["finish"])
    #expect(HTTPHead(other.written()).startLine.hasPrefix("HTTP/1.1 403 "))
    var third = Self.waiting()
    #expect(third.refuse(by: nil, at: Self.start).map { "\($0)" } == ["finish"])
    #expect(third.written() == [] && third.refuse(by: nil, at: Self.start).isEmpty)
  }

  @Test(arguments: [false, true]) func refusesAClientThatDoesNotWait(isAtOnce: Bool) {
    var machine = WebSocketServerMachine(WebSocketServerOptions(), at: Self.start) { _ in nil }
    let bytes = RawClient.request("/a").head.bytes
    _ = machine.received((isAtOnce ? bytes + [0x81] : bytes).span.bytes, at: Self.start)
    if !isAtOnce { _ = machine.received([0x81].span.bytes, at: Self.start) }
    #expect(HTTPHead(machine.written()).startLine.hasPrefix("HTTP/1.1 400 "))
    #expect(machine.phase == .draining && machine.request == nil)
  }

  /// A request with one thing changed, and the status that answers.
  @Test(arguments: [
    ("GET / HTTP/1.1", "", 101), ("POST / HTTP/1.1", "", 405), ("GET / HTTP/1.0", "", 400),
    ("GET /#f HTTP/1.1", "", 400), ("nonsense", "", 400), ("GET / HTTP/1.1", "Host", 400),
    ("GET / HTTP/1.1", "Upgrade", 400), ("GET / HTTP/1.1", "Connection", 400),
    ("GET / HTTP/1.1", "Sec-WebSocket-Key", 400),
    ("GET / HTTP/1.1", "Sec-WebSocket-Version", 400),
    ("GET / HTTP/1.1", "Sec-WebSocket-Version: 8", 426),
    ("GET / HTTP/1.1", "Sec-WebSocket-Key: AQID", 400),
    ("GET / HTTP/1.1", "Sec-WebSocket-Extensions: a b", 400),
    ("GET / HTTP/1.1", "Sec-WebSocket-Extensions: permessage-deflate; x=1", 101),
  ])
  func answersARequest(line: String, change: String, status: Int) {
    let name = change.prefix { $0 != ":" }
    var fields = RawClient.request("/").head.fields.filter { $0.name != name }
    if change.contains(":") {
      fields.append(.init(String(name), String(change.dropFirst(name.count + 2))))
    }
    let head = HTTPHead(startLine: line, fields: fields)
    var machine = WebSocketServerMachine(WebSocketServerOptions(), at: Self.start) { _ in .accept }
    _ = machine.received(head.bytes.span.bytes, at: Self.start)
    let answer = HTTPHead(machine.written())
    #expect(answer.startLine.hasPrefix("HTTP/1.1 \(status) "), "\(answer.startLine)")
    #expect(answer.fields(named: "Sec-WebSocket-Version").isEmpty == (status != 426))
  }

  @Test func refusesWhoSpeaksNoWebSocketAndWhoNeverEnds() {
    let plain = HTTPHead(startLine: "GET / HTTP/1.1", fields: [.init("Host", "a")]).bytes
    for (bytes, status) in [(plain, 426), (Array(repeating: 0x61, count: 100_000), 431)] {
      var machine = WebSocketServerMachine(WebSocketServerOptions(), at: Self.start) { _ in .accept
      }
      _ = machine.received(bytes.span.bytes, at: Self.start)
      #expect(HTTPHead(machine.written()).startLine.hasPrefix("HTTP/1.1 \(status) "))
    }
  }

  @Test(arguments: [
    ("permessage-deflate", "permessage-deflate"),
    ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
    (
      "permessage-deflate; server_max_window_bits=9", "permessage-deflate; server_max_window_bits=9"
    ),
    ("permessage-deflate; server_max_window_bits=8", nil),
    ("permessage-deflate; server_max_window_bits=8, permessage-deflate", "permessage-deflate"),
    ("permessage-deflate; server_max_window_bits=16", nil),
    ("permessage-deflate; nonsense, permessage-deflate", "permessage-deflate"),
    ("x-webkit-deflate-frame, permessage-deflate", "permessage-deflate"),
    (
      "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    ),
    ("other", nil),
  ])
  func agreesToTheFirstOfferItCanKeep(offer: String, answer: String?) {
    let agreement = WebSocketAgreement(
      RawClient.request("/", extensions: offer), WebSocketServerOptions())
    #expect(
      agreement.response.head.fields(named: "Sec-WebSocket-Extensions").first?.value == answer)
    #expect(agreement.response.faults.isEmpty && (agreement.deflate != nil) == (answer != nil))
  }

  // MARK: - Time

  @Test func asksASilentClientAndThenGivesItUp() {
    var machine = Self.opened()
    #expect(machine.deadline == Self.after(.seconds(30)))
    #expect(machine.passed(at: Self.after(.seconds(30)), isReading: true).isEmpty)
    #expect(machine.written(at: Self.after(.seconds(33))) == WebSocketFrame(.ping, []).encoded())
    // The answer's time begins when the question is written.
    #expect(machine.deadline == Self.after(.seconds(53)))
    let orders = machine.passed(at: Self.after(.seconds(53)), isReading: true).map { "\($0)" }
    #expect(orders.count == 2 && orders.first?.contains("lost") == true && orders.last == "cut")
    #expect(machine.deadline == nil)
  }

  @Test func takesAnythingForASignOfLife() {
    var machine = Self.opened()
    _ = machine.passed(at: Self.after(.seconds(30)), isReading: true)
    let byte: [UInt8] = [0x8A]
    _ = machine.received(byte.span.bytes, at: Self.after(.seconds(31)))
    #expect(machine.deadline == Self.after(.seconds(61)))
  }

  @Test(arguments: [true, false])
  func givesUpAClientThatDoesNotReadWhateverItSends(isReading: Bool) {
    var machine = Self.opened()
    machine.leave(isFirm: false, at: Self.after(.seconds(1)))
    let ping = FrameRow.frame(.ping).encoded()
    for second in stride(from: 2, to: 21, by: 6) {
      _ = machine.received(ping.span.bytes, at: Self.after(.seconds(second)))
      #expect(machine.passed(at: Self.after(.seconds(second)), isReading: isReading).isEmpty)
    }
    #expect(machine.deadline == Self.after(.seconds(21)))
    let orders = machine.passed(at: Self.after(.seconds(21)), isReading: isReading).map { "\($0)" }
    #expect(orders.first?.contains("does not read") == true && orders.last == "cut")
  }

  @Test func waitsForAClientThatReadsUnlessTheServerStops() {
    var machine = Self.opened()
    machine.leave(isFirm: false, at: Self.start)
    machine.wrote(at: Self.after(.seconds(3)))
    machine.leave(isFirm: false, at: Self.after(.seconds(4)))
    #expect(machine.deadline == Self.after(.seconds(23)))
    machine.leave(isFirm: true, at: Self.after(.seconds(6)))
    machine.wrote(at: Self.after(.seconds(7)))
    #expect(machine.deadline == Self.after(.seconds(11)))
    // Nor is its Close frame waited for any longer.
    _ = machine.send(.close(code: 1001, reason: ""), at: Self.after(.seconds(9)))
    #expect(machine.deadline == Self.after(.seconds(11)))
    let orders = machine.passed(at: Self.after(.seconds(11)), isReading: true).map { "\($0)" }
    #expect(orders.first?.contains("no Close frame") == true && orders.last == "cut")
  }

  @Test func callsNobodySilentWhomItDoesNotListenTo() {
    var machine = Self.opened()
    #expect(machine.passed(at: Self.after(.seconds(30)), isReading: false).isEmpty)
    #expect(machine.written().isEmpty && machine.deadline == Self.after(.seconds(60)))
  }
}

extension WebSocketServerMachine {
  /// Everything that waits for the socket, which takes it.
  mutating func written(at now: Timestamp = Timestamp(nanoseconds: 0)) -> [UInt8] {
    var bytes: [UInt8] = []
    while output.count > 0 {
      _ = output.take(1_000) { buffer in
        bytes += buffer
        return buffer.count
      }
    }
    wrote(at: now)
    return bytes
  }
}
