import RepriseCore
import Wire

// The heads of recorded handshakes as another connection gets them: with its own keys, and without extensions, as no
// message is packed.

extension WebSocketRequest {
  /// The names of fields that every run makes by itself.
  private static let own: Set<String> = [
    "host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version",
    "sec-websocket-extensions",
  ]

  /// A recorded request as it is sent to another server.
  /// - Parameter target: Where to; its path stands in the place of the recorded one where it has one, as its fields do.
  /// - Returns: The request, without what is hidden in the recording.
  func asked(at target: WebSocketTarget) -> WebSocketRequest {
    let key = WebSocketKey.encoded((0..<16).map { _ in UInt8.random(in: 0...255) })
    let replaced = Self.own.union(target.headers.keys.map { $0.lowercased() })
    let fields: [HTTPHead.Field] = [
      .init("Host", target.host), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
      .init("Sec-WebSocket-Key", key), .init("Sec-WebSocket-Version", "13"),
    ]
    return WebSocketRequest(
      target: target.path == "/" ? self.target : target.path,
      fields: fields + head.others(than: replaced)
        + target.headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
  }
}

extension WebSocketResponse {
  /// The names of fields that every run makes by itself.
  private static let own: Set<String> = [
    "upgrade", "connection", "sec-websocket-accept", "sec-websocket-protocol",
    "sec-websocket-extensions",
  ]
  /// The names of fields that belong to a body, which is not sent again, or to one connection.
  private static let passing: Set<String> = [
    "content-length", "transfer-encoding", "content-encoding", "connection",
  ]

  /// The head of a recorded answer as another request gets it.
  ///
  /// What the recorded server did wrong is done again: a client has to get along with it.
  /// - Parameter request: The request.
  /// - Returns: The head: one that accepts without extensions, or a refusal without its body.
  func answering(_ request: WebSocketRequest) -> HTTPHead {
    guard accepts else {
      return HTTPHead(
        startLine: head.startLine,
        fields: head.others(than: Self.passing) + [.init("Content-Length", "0")])
    }
    let mistakes = Set(faults.map(\.code))
    let chosen = subprotocol.flatMap {
      request.subprotocols.contains($0) || mistakes.contains(.subprotocolNotOffered) ? $0 : nil
    }
    var answer = WebSocketResponse(accepting: request, subprotocol: chosen).head.fields
    if mistakes.contains(.wrongAccept) {
      answer.removeAll { $0.name == "Sec-WebSocket-Accept" }
      answer += head.fields.filter { $0.name.lowercased() == "sec-websocket-accept" }
    }
    return HTTPHead(startLine: head.startLine, fields: answer + head.others(than: Self.own))
  }
}

extension HTTPHead {
  /// The fields with other names, as far as they are known: what is hidden in a recording is not sent.
  fileprivate func others(than names: Set<String>) -> [Field] {
    fields.filter {
      !names.contains($0.name.lowercased()) && !$0.value.contains(RedactionRules.mark)
    }
  }
}
