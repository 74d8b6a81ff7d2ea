import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// A capture that this test makes, as tshark and this package read it.
@Suite struct HTTPTsharkTests {
  /// A message as both tools tell it.
  private struct Message: Equatable {
    var frame: Int
    var method = ""
    var target = ""
    var status = ""
    var body = ""
  }

  /// Conversations by chance: any method, any framing, kept alive, on several connections at once.
  private static func capture(_ seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var capture = TCPCapture(serverPort: 80)
    for number in 1...4 { capture.open(number) }
    for _ in 0..<60 {
      let number = random.int(1...4)
      let method = random.pick(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
      let hasBody = ["POST", "PUT"].contains(method)
      let body = hasBody ? framed(text(&random), &random) : "\r\n"
      let request = "\(method) /\(text(&random, 1...9)) HTTP/1.1\r\nHost: x\r\n\(body)"
      capture.send(number, .client, Array(request.utf8))
      let status = random.pick([200, 200, 201, 204, 304, 404, 500])
      let isEmpty = method == "HEAD" || status == 204 || status == 304
      let answer = isEmpty ? "\r\n" : framed(text(&random), &random)
      if hasBody, random.int(0...3) == 0 {
        capture.send(number, .server, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      }
      // In two pieces somewhere.
      let bytes = Array("HTTP/1.1 \(status) Fine\r\n\(answer)".utf8)
      let cut = random.int(1...bytes.count)
      capture.send(number, .server, Array(bytes[..<cut]))
      if cut < bytes.count { capture.send(number, .server, Array(bytes[cut...])) }
    }
    capture.send(1, .client, Array("GET /last HTTP/1.1\r\n\r\n".utf8))
    capture.send(1, .server, Array("HTTP/1.1 200 OK\r\n\r\nto the end".utf8))
    for number in 1...4 { capture.close(number, by: .server) }
    return capture.bytes
  }

  private static func text(_ random: inout SplitMix64, _ counts: ClosedRange<Int> = 1...3_000)
    -> String
  {
    let count = random.int(counts)
    return String((0..<count).map { _ in random.pick(Array("abcdefghijklmnop0123456789")) })
  }

  private static func framed(_ body: String, _ random: inout SplitMix64) -> String {
    guard random.bool() else { return "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" }
    var (text, rest) = ("Transfer-Encoding: chunked\r\n\r\n", body[...])
    while !rest.isEmpty {
      let piece = rest.prefix(random.int(1...900))
      text += "\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n"
      rest = rest.dropFirst(piece.count)
    }
    return text + "0\r\n\r\n"
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func agreesWithTshark(_ seed: UInt64) throws {
    let file = try TemporaryFile(Self.capture(seed))
    let (events, summary) = try EventList.events(
      of: file.path, options: InputOptions(decode: [80: .http]))
    #expect(summary.notes == [] && summary.connections == 4)
    // A body that ends with its connection is told with the last frame of the end; tshark names the first.
    var ends: [[Int]: Int] = [:]
    for event in events {
      guard case .closed(let closing) = event.body else { continue }
      ends[[event.context.connection, event.context.frame]] = closing.firstFrame
    }
    #expect(ends.count == 4)
    let ours = events.compactMap { event -> Message? in
      guard case .http(let part) = event.body, let message = part.message else { return nil }
      #expect(message.missing == 0 && message.head.faults.isEmpty)
      let frame = event.context.frame
      var seen = Message(
        frame: ends[[event.context.connection, frame]] ?? frame,
        body: String(decoding: message.body, as: UTF8.self))
      switch message.start {
      case .request(let method, let target): (seen.method, seen.target) = (method, target)
      case .response(let status, _): seen.status = String(status)
      }
      return seen
    }
    let theirs = try Tshark.lines(
      file.path, ["-Y", "http"],
      fields: [
        "frame.number", "http.request.method", "http.request.uri", "http.response.code",
        "http.file_data",
      ]
    ).map { line in
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Message(
        frame: Int(columns[0]) ?? 0, method: columns[1], target: columns[2], status: columns[3],
        body: columns[4])
    }
    #expect(ours == theirs)
    #expect(ours.count > 120)
  }
}
