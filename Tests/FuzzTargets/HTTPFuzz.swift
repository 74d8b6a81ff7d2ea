import Capture
import RepriseCore
import TestSupport

/// Both directions of a connection that speaks HTTP, of any bytes and in pieces of any size.
///
/// The first byte of an input says how long the pieces are; behind it each turn of one side stands in front of a
/// ``turn`` to the other, the client's first.
enum HTTPFuzz {
  /// What stands between the bytes of two sides; a body of gzip hardly has it.
  static let turn: [UInt8] = [0xFF, 0xFE, 0xFF]
  private static let port: UInt16 = 80

  static func run(_ bytes: [UInt8]) {
    guard let size = bytes.first else { return }
    let turns = turns(Array(bytes.dropFirst()))
    let whole = read(turns, pieces: 1_400)
    RoundTrip.check(whole)
    let cut = read(turns, pieces: max(1, Int(size)))
    RoundTrip.check(cut)
    for sender in [Peer.client, .server] {
      let (one, other) = (certain(whole, from: sender), certain(cut, from: sender))
      demand(
        zip(one.parts, other.parts).allSatisfy { $0 == $1 },
        "in pieces of \(size) bytes \(one.parts) are \(other.parts)")
      guard one.isWhole, other.isWhole else { continue }
      demand(
        one.parts.count == other.parts.count,
        "in pieces of \(size) bytes \(one.parts.count) messages are \(other.parts.count)")
    }
  }

  /// Makes an input of what both sides say in turns.
  static func input(pieces size: UInt8, _ turns: [[UInt8]]) -> [UInt8] {
    [size] + Array(turns.joined(separator: turn))
  }

  private static func turns(_ bytes: [UInt8]) -> [[UInt8]] {
    var turns: [[UInt8]] = [[]]
    var rest = bytes[...]
    while let byte = rest.first {
      if rest.starts(with: turn) {
        rest = rest.dropFirst(turn.count)
        turns.append([])
      } else {
        turns[turns.count - 1].append(byte)
        rest = rest.dropFirst()
      }
    }
    return turns
  }

  private static func read(_ turns: [[UInt8]], pieces size: Int) -> [Event] {
    var capture = TCPCapture(serverPort: port)
    capture.open(0)
    for (number, bytes) in turns.enumerated() {
      let sender: Peer = number.isMultiple(of: 2) ? .client : .server
      for start in stride(from: 0, to: bytes.count, by: size) {
        capture.send(0, sender, Array(bytes[start..<min(bytes.count, start + size)]))
      }
    }
    capture.close(0, by: .server)
    var keeper = EventKeeper()
    do {
      try FileFuzz.read(capture.bytes, .init(decode: [port: .http]), into: &keeper)
    } catch {
      demand(false, "a capture of HTTP can't be read: \(error)")
    }
    return keeper.events
  }

  /// The messages of a side, up to where something is no HTTP: how it goes on from there depends on where pieces begin.
  ///
  /// So does the end of an answer to a question that nobody saw, which may be the one to a HEAD.
  private static func certain(
    _ events: [Event], from sender: Peer
  ) -> (parts: [HTTPPart], isWhole: Bool) {
    var parts: [HTTPPart] = []
    var asked: Set<Int> = []
    for event in events {
      switch event.body {
      case .malformed, .gap: return (parts, false)
      case .http(let part):
        if event.context.sender == .client { asked.insert(part.exchange) }
        guard asked.contains(part.exchange) else { return (parts, false) }
        if event.context.sender == sender { parts.append(part) }
      default: continue
      }
    }
    return (parts, events.count < EventKeeper.limit)
  }
}

extension HTTPFuzz {
  /// Dialogues to begin with.
  /// - Parameter bodies: What their messages carry, from recordings.
  /// - Returns: A dialogue with each way of telling where a body ends.
  static func corpus(_ bodies: [[UInt8]]) -> [[UInt8]] {
    let sizes: [UInt8] = [255, 1, 7, 100]
    return bodies.prefix(100).enumerated().map { number, body in
      let size = sizes[number % sizes.count]
      switch number % 4 {
      case 0: return input(pieces: size, [posted(body), answered(body)])
      case 1: return input(pieces: size, [posted(body), chunked(body), get, open(body)])
      case 2: return input(pieces: size, [posted(body) + get, chunked(body) + answered(body)])
      default: return input(pieces: size, [get + head, zipped + bare(body), posted(body), interim])
      }
    }
  }

  private static let get = text("GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n")
  private static let head = text("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n")
  private static let interim = text(
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
  /// Of `{"a":[1,2,3]}`.
  private static let zipped =
    text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 33\r\n\r\n") + [
      0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0x02, 0x03, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x8A, 0x36, 0xD4,
      0x31, 0xD2, 0x31, 0x8E, 0xAD, 0x05, 0, 0x91, 0x1A, 0x11, 0x87, 0x0D, 0, 0, 0,
    ]

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func posted(_ body: [UInt8]) -> [UInt8] {
    text("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n") + body
  }

  private static func answered(_ body: [UInt8]) -> [UInt8] {
    text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.count)\r\n\r\n")
      + body
  }

  /// The answer to a HEAD.
  private static func bare(_ body: [UInt8]) -> [UInt8] {
    text("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
  }

  private static func chunked(_ body: [UInt8]) -> [UInt8] {
    var bytes = text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for start in stride(from: 0, to: body.count, by: 50) {
      let chunk = body[start..<min(body.count, start + 50)]
      bytes += text(String(chunk.count, radix: 16) + ";x=\"y\"\r\n") + chunk + text("\r\n")
    }
    return bytes + text("0\r\nTrailer: 1\r\n\r\n")
  }

  /// The connection ends it.
  private static func open(_ body: [UInt8]) -> [UInt8] {
    text("HTTP/1.0 404 Not Found\r\n\r\n") + body
  }
}
