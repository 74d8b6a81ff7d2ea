import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Messages of HTTP that are written as packets.
@Suite struct HTTPPacketsTests {
  /// A message of a recording, and how it stands in the packets.
  struct Written: Sendable {
    var fields: [HTTPHead.Field]
    var body = ""
    var isDecoded = false
    /// The method of the request.
    var method = "GET"
    var sent: [HTTPHead.Field]
    var isLost = true
  }

  private static let coding = HTTPHead.Field("Content-Encoding", "gzip")
  private static let chunks = HTTPHead.Field("Transfer-Encoding", "chunked")
  private static let identity = HTTPHead.Field("content-encoding", "identity")
  private static let other = HTTPHead.Field("X-Name", "content-length")

  private static func length(_ text: String) -> HTTPHead.Field { .init("content-length", text) }

  static let written: [Written] = [
    // As it was sent.
    .init(
      fields: [length("2"), other], body: "ok", sent: [length("2"), other],
      isLost: false),
    .init(fields: [length("2, 2")], body: "ok", sent: [length("2, 2")], isLost: false),
    .init(fields: [other], body: "ok", sent: [other], isLost: false),
    .init(
      fields: [identity, length("2")], body: "ok", sent: [identity, length("2")],
      isLost: false),
    // A coding that nobody undid is still there.
    .init(
      fields: [coding, length("2")], body: "ok", sent: [coding, length("2")],
      isLost: false),
    // Unpacked.
    .init(
      fields: [coding, length("40"), other], body: "unpacked", isDecoded: true,
      sent: [length("8"), other]),
    .init(fields: [length("20"), coding], isDecoded: true, sent: [length("0")]),
    .init(fields: [coding], body: "to the end", isDecoded: true, sent: []),
    .init(
      fields: [chunks, coding], body: "unpacked", isDecoded: true, sent: [chunks]),
    // Something is hidden in it.
    .init(fields: [length("12")], body: "a=***", sent: [length("5")]),
    .init(
      fields: [chunks], body: "a=***", sent: [chunks]),
    // The length of what is not sent.
    .init(
      fields: [coding, length("40")], method: "HEAD", sent: [coding, length("40")],
      isLost: false),
  ]

  /// The next answer stands where the first one ends.
  @Test(arguments: written)
  func `a body is written with the length that it has`(_ written: Written) throws {
    let isOpen = written.sent.contains { $0.name != "X-Name" && $0.value != "gzip" }
    let events = try Self.session(written, isFollowed: isOpen)
    let made = Conversions.packets(of: events)
    #expect(made.losses.bodies == (written.isLost ? 1 : 0) && made.losses.gaps == 0)
    let read = try Conversions.events(made.bytes, .init(decode: [80: .http]))
    let answers = read.compactMap { event -> HTTPMessage? in
      guard case .http(.response(_, let message)) = event.body else { return nil }
      return message
    }
    let head = HTTPHead(startLine: "HTTP/1.1 200 OK", fields: written.sent)
    #expect(answers.first?.head.bytes == head.bytes)
    #expect(answers.count == (isOpen ? 2 : 1))
    #expect(answers.first?.missing == 0)
    #expect(answers.first?.body == Array(written.body.utf8))
    #expect(isOpen == (answers.last?.head.startLine == "HTTP/1.1 404 Not Found"))
  }

  private static func session(_ written: Written, isFollowed: Bool) throws -> [Event] {
    func event(_ sender: Peer, _ body: Event.Body, at seconds: Int64) -> Event {
      Event(
        EventContext(
          time: Timestamp(nanoseconds: seconds * 1_000_000_000), frame: 1, connection: 1,
          sender: sender, wire: .http), body)
    }
    func message(
      _ line: String, _ fields: [HTTPHead.Field] = [], _ body: String = "",
      _ isDecoded: Bool = false
    ) throws -> HTTPMessage {
      try #require(
        HTTPMessage(
          HTTPHead(startLine: line, fields: fields), body: Array(body.utf8), isDecoded: isDecoded))
    }
    let opening = ConnectionOpening(
      client: "10.0.0.1:40000", server: "10.0.0.2:80", isFromStart: true, firstFrame: 1,
      firstTime: Timestamp(nanoseconds: 0))
    let closing = ConnectionClosing(
      how: .fin, firstFrame: 1, firstTime: Timestamp(nanoseconds: 9_000_000_000))
    let first = [
      event(.client, .opened(opening), at: 0),
      event(
        .client, .http(.request(exchange: 1, try message("\(written.method) /a HTTP/1.1"))), at: 1),
      event(
        .server,
        .http(
          .response(
            exchange: 1,
            try message("HTTP/1.1 200 OK", written.fields, written.body, written.isDecoded))), at: 2
      ),
    ]
    let second = [
      event(.client, .http(.request(exchange: 2, try message("GET /b HTTP/1.1"))), at: 3),
      event(
        .server,
        .http(.response(exchange: 2, try message("HTTP/1.1 404 Not Found", [length("0")]))), at: 4),
    ]
    return first + (isFollowed ? second : []) + [event(.server, .closed(closing), at: 9)]
  }
}
