package import Wire

// What differs between two things that were said by WebSocket, whichever end has said them.
extension ReplayComparison {
  /// Compares two halves of opening handshakes but for their keys, which every run makes anew.
  ///
  /// A query, which often holds a token, counts with ``ReplayMatch/strict`` alone, and extensions never: they change
  /// how messages are packed.
  /// - Parameters:
  ///   - expected: The recorded one.
  ///   - actual: That of this run.
  package mutating func compare(_ expected: WebSocketHandshake, _ actual: WebSocketHandshake) {
    switch (expected, actual) {
    case (.request(let expected), .request(let actual)):
      compareTargets(expected.target, actual.target)
      guard options.match != .topic else { return }
      compare("subprotocols", Self.list(expected.subprotocols), Self.list(actual.subprotocols))
    case (.response(let expected), .response(let actual)):
      compare("status", expected.status, actual.status)
      guard options.match != .topic else { return }
      compare("subprotocol", expected.subprotocol ?? "none", actual.subprotocol ?? "none")
    case (.request, .response), (.response, .request):
      noteOther("\(expected.name)", "\(actual.name)")
    }
  }

  private mutating func compareTargets(_ expected: String, _ actual: String) {
    if options.match == .strict { return compare("target", expected, actual) }
    compare("target", String(expected.prefix { $0 != "?" }), String(actual.prefix { $0 != "?" }))
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  /// Compares two frames, each of which is a whole message or a Close.
  /// - Parameters:
  ///   - expected: The recorded one.
  ///   - actual: That of this run.
  package mutating func compare(_ expected: WebSocketFrame, _ actual: WebSocketFrame) {
    guard expected.header.opcode == actual.header.opcode else {
      return noteOther("\(expected.header.opcode.name)", "\(actual.header.opcode.name)")
    }
    switch expected.header.opcode {
    case .text: comparePayloads("text", expected.payload, actual.payload)
    case .binary: comparePayloads("binary", expected.payload, actual.payload)
    case .close where options.match != .topic:
      compare("code", Self.code(of: expected), Self.code(of: actual))
    default: return
    }
  }

  /// The code of a Close frame, which is 1005 where it has none (RFC 6455 section 7.1.5).
  private static func code(of frame: WebSocketFrame) -> UInt16 {
    frame.withView(from: nil) { $0.closeCode } ?? 1_005
  }
}
