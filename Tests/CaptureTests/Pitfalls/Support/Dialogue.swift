import RepriseCore

@testable import Capture

/// A TCP segment as a test writes it down.
struct Segment {
  var sender: Peer
  var sequence: UInt32
  var acknowledgment: UInt32?
  var flags: TCPFlags = []
  var payload: [UInt8] = []
  /// The length on the wire, if a snaplen cut the payload.
  var wireLength: Int?
  var clientPort: UInt16 = 40_000
  var serverPort: UInt16 = 1_883
  /// The sender's clock (RFC 7323).
  var clock: UInt32?

  /// The sequence number behind the payload.
  var end: UInt32 { sequence &+ UInt32(payload.count) }
}

/// A TCP connection between a client and a server, segment by segment.
struct Dialogue {
  var segments: [Segment] = []
  var next: [Peer: UInt32]
  var clientPort: UInt16 = 40_000
  var serverPort: UInt16 = 1_883

  /// Creates a connection whose streams start behind two sequence numbers.
  init(client: UInt32 = 1_000, server: UInt32 = 5_000, serverPort: UInt16 = 1_883) {
    next = [.client: client, .server: server]
    self.serverPort = serverPort
  }

  private func number(_ peer: Peer) -> UInt32 { next[peer] ?? 0 }

  mutating func add(
    _ sender: Peer, _ flags: TCPFlags, _ payload: [UInt8] = [], acknowledges: Bool = true
  ) {
    segments.append(
      Segment(
        sender: sender, sequence: number(sender),
        acknowledgment: acknowledges ? number(sender.other) : nil, flags: flags, payload: payload,
        clientPort: clientPort, serverPort: serverPort))
    let length = payload.count + (flags.isDisjoint(with: [.syn, .fin]) ? 0 : 1)
    next[sender] = number(sender) &+ UInt32(length)
  }

  mutating func open() {
    add(.client, .syn, acknowledges: false)
    add(.server, .syn)
    add(.client, [])
  }

  /// Sends bytes in pieces of up to a size, and the other peer's acknowledgement of them.
  mutating func send(
    _ sender: Peer, _ bytes: [UInt8], pieces size: Int = 1_460, acknowledged: Bool = true
  ) {
    for start in stride(from: 0, to: bytes.count, by: size) {
      add(sender, .push, Array(bytes[start..<min(bytes.count, start + size)]))
    }
    if acknowledged { add(sender.other, []) }
  }

  mutating func close(_ first: Peer = .client) {
    add(first, .fin)
    add(first.other, .fin)
    add(first, [])
  }
}
