import Wire

/// The machine's work on connections without topics.
extension ReplayMachine {
  /// Tells of what the server sent outside of MQTT.
  mutating func take(_ handshake: WebSocketHandshake) -> ClientEvent? {
    guard case .response(let response) = handshake else { return nil }
    guard response.opensConnection else {
      close()
      let why =
        response.faults.first.map { " (\($0.code.rawValue))" } ?? ""
      return .closed(
        .lost("the server refused to switch to WebSocket: HTTP status \(response.status)\(why)"))
    }
    if link == .connecting { link = .open }
    return .connected(.init())
  }

  /// Tells of a message of the server, with the values of this run in the place of recorded ones.
  mutating func take(_ frame: borrowing WebSocketFrameView) -> ClientEvent? {
    switch frame.opcode {
    case .text:
      return .text(String(decoding: rewritten(frame.data), as: UTF8.self))
    case .binary: return .binary(rewritten(frame.data))
    case .close:
      let isLeaving = link == .leaving
      close()
      return .closed(isLeaving ? .byUser : .byServer(code: nil, Self.reason(of: frame)))
    default: return nil
    }
  }

  private func rewritten(_ data: RawSpan) -> [UInt8] {
    let payload = Array(copying: data)
    return bindings.rewritten(payload, by: options.roles, at: position) ?? payload
  }

  private static func reason(of frame: borrowing WebSocketFrameView) -> String {
    guard let code = frame.closeCode else { return "the server closed the connection" }
    let text = String(copying: frame.closeReason)
    return "the server closed the connection with code \(code)" + (text.isEmpty ? "" : ": \(text)")
  }
}

extension WebSocketHandshake {
  /// What a half of a handshake is for a replay.
  var replayRole: ReplayEventRole {
    switch self {
    case .request: .action
    case .response: .fromServer
    }
  }
}

extension WebSocketFrame {
  /// What a message or a Close frame is for a replay.
  func replayRole(from sender: Peer) -> ReplayEventRole {
    sender == .client ? .action : .fromServer
  }
}

extension Event {
  /// Whether any `connect` performs it: the options of MQTT mean nothing to WebSocket, and of a connection
  /// that was open before the capture began nobody knows them.
  var isOpenedAnyhow: Bool {
    switch body {
    case .opened, .attempted, .handshake(.request): true
    case .closed, .gap, .malformed, .mqtt, .handshake(.response), .webSocket, .http, .tls: false
    }
  }

  /// Whether the client asks for WebSocket.
  var isUpgrade: Bool {
    if case .handshake(.request) = body { true } else { false }
  }

  /// Whether the event is a part of a session of WebSocket that users know of.
  var isOfFrames: Bool {
    switch body {
    case .handshake, .webSocket: true
    case .attempted: context.wire == .webSocket
    case .opened, .closed, .gap, .malformed, .mqtt, .http, .tls: false
    }
  }

  /// Whether the client begins to close the connection.
  var isCloseFrameOfClient: Bool {
    guard case .webSocket(let frame) = body else { return false }
    return context.sender == .client && frame.header.opcode == .close
  }
}

extension ClientAction.Kind {
  /// The action that a handshake or a frame of the client stands for; nil for what is none.
  init?(_ frame: borrowing WebSocketFrameView) {
    switch frame.opcode {
    case .text: self = .sendText(String(copying: frame.data))
    case .binary: self = .sendBinary(Array(copying: frame.data))
    case .close: self = .disconnect
    default: return nil
    }
  }
}
