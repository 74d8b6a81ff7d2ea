import RepriseCore
import TestSupport
import Wire

@testable import Capture

/// A TCP connection with an opening handshake and frames, segment by segment.
struct WebSocketDialogue {
  var dialogue: Dialogue
  /// The largest segment.
  var pieces = 1_460
  private var keys = SplitMix64(seed: 6_455)

  /// Creates a connection to a port, with the TCP handshake.
  init(port: UInt16 = 9_001, pieces: Int = 1_460) {
    dialogue = Dialogue(serverPort: port)
    dialogue.open()
    self.pieces = pieces
  }

  static func request(
    subprotocol: String? = nil, extensions: String? = nil, target: String = "/"
  ) -> [UInt8] {
    var fields = [
      HTTPHead.Field("Host", "a"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
      .init("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), .init("Sec-WebSocket-Version", "13"),
    ]
    if let subprotocol { fields.append(.init("Sec-WebSocket-Protocol", subprotocol)) }
    if let extensions { fields.append(.init("Sec-WebSocket-Extensions", extensions)) }
    return WebSocketRequest(target: target, fields: fields).head.bytes
  }

  static func response(subprotocol: String? = nil, extensions: String? = nil) -> [UInt8] {
    WebSocketResponse(
      accepting: WebSocketRequest(HTTPHead(request())), subprotocol: subprotocol,
      extensions: extensions
    ).head.bytes
  }

  /// Sends both halves of the handshake.
  mutating func open(subprotocol: String? = nil, extensions: String? = nil) {
    send(.client, Self.request(subprotocol: subprotocol, extensions: extensions))
    send(.server, Self.response(subprotocol: subprotocol, extensions: extensions))
  }

  mutating func send(_ sender: Peer, _ bytes: [UInt8]) {
    dialogue.send(sender, bytes, pieces: pieces)
  }

  mutating func send(_ sender: Peer, _ text: String) { send(sender, Array(text.utf8)) }

  /// Sends frames in one run of bytes; those of a client get a mask if they have none.
  mutating func send(_ sender: Peer, _ frames: [WebSocketFrame]) {
    send(sender, bytes(sender, frames))
  }

  mutating func bytes(_ sender: Peer, _ frames: [WebSocketFrame]) -> [UInt8] {
    frames.flatMap { frame in
      var frame = frame
      if sender == .client, frame.header.maskingKey == nil {
        frame.header.maskingKey = UInt32(truncatingIfNeeded: keys.next())
      }
      return frame.encoded()
    }
  }

  mutating func close() { dialogue.close() }

  /// The events of the dialogue.
  func tap(decode: [UInt16: DecodeRule] = [:]) -> Tap { Tap(dialogue, decode: decode) }
}

extension WebSocketFrame {
  static func text(_ text: String, isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(.text, Array(text.utf8), isFinal: isFinal)
  }

  static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(.binary, bytes, isFinal: isFinal)
  }

  static func continuation(_ bytes: [UInt8], isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(.continuation, bytes, isFinal: isFinal)
  }
}

extension Tap {
  /// The frames of a peer.
  func frames(_ peer: Peer) -> [WebSocketFrame] {
    events.compactMap { event in
      guard event.context.sender == peer, case .webSocket(let frame) = event.body else {
        return nil
      }
      return frame
    }
  }

  /// What the frames of a peer say.
  func texts(_ peer: Peer) -> [String] {
    frames(peer).map { String(decoding: $0.inflated ?? $0.payload, as: UTF8.self) }
  }

  /// The types of all events, as `inspect` prints them.
  var types: [String] {
    events.compactMap { try? InspectLine($0).type }
  }

  /// The faults of all frames and handshakes.
  var webSocketFaults: [WebSocketFault.Code] {
    events.flatMap { event in
      event.withView { view -> [WebSocketFault.Code] in
        switch view.body {
        case .webSocket(let frame): frame.faults.map(\.code)
        case .handshake(let handshake): handshake.faults.map(\.code)
        default: []
        }
      }
    }
  }
}
