import LiveClient
import Wire

/// How connections of a server ended, by the target of their requests.
final class ClosureLog: Sendable {
  private let state = Observed<[(target: String, closure: WebSocketClosure)]>([])

  func note(_ target: String, _ closure: WebSocketClosure) {
    state.change { $0.append((target, closure)) }
  }

  /// The ends of connections with a target, in their order.
  func closures(of target: String) -> [WebSocketClosure] {
    state.value.filter { $0.target == target }.map(\.closure)
  }

  /// The end of the one connection with a target, as soon as there is one.
  func closure(of target: String) async throws -> WebSocketClosure? {
    try await closures(of: target, count: 1).first
  }

  /// The ends of connections with a target, as soon as there are so many.
  func closures(of target: String, count: Int) async throws -> [WebSocketClosure] {
    let isThere: Bool? = await state.first { all in
      all.count { $0.target == target } >= count ? true : nil
    }
    guard isThere != nil else {
      throw Child.Failure(description: "not \(count) ends of \(target), but \(state.value)")
    }
    return closures(of: target)
  }
}

/// Runs a server that does what the target of a request says, as client.py describes it.
func withTestServer<Result: Sendable>(
  _ options: WebSocketServerOptions = WebSocketServerOptions(),
  _ body: @Sendable @escaping (WebSocketServer, ClosureLog) async throws -> Result
) async throws -> Result {
  let log = ClosureLog()
  return try await withWebSocketServer(
    options,
    deciding: { request in
      guard request.target == "/403" else { return .accept }
      return .refuse(status: 403, fields: [.init("X-Reason", "test")], body: "Not for you.")
    }
  ) { server in
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await server.serve { try await attend($0, log) } }
      let result = try await body(server, log)
      group.cancelAll()
      return result
    }
  }
}

private func attend(_ connection: WebSocketServerConnection, _ log: ClosureLog) async throws {
  let target = connection.request.target
  let parts = target.split(separator: "?")
  let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
  for await event in connection.events {
    switch event {
    case .closed(let closure): log.note(target, closure)
    case .pong: continue
    case .text where parts.first == "/close":
      try connection.close(code: UInt16(number), reason: "because \(number) ä")
    case .text(let text) where parts.first == "/fragments":
      try await connection.send(Array(text.utf8), isText: true, inFragmentsOf: number)
    case .binary(let bytes) where parts.first == "/fragments":
      try await connection.send(bytes, isText: false, inFragmentsOf: number)
    case .text(let text): try await connection.send(text)
    case .binary(let bytes): try await connection.send(bytes)
    }
  }
}

extension WebSocketServerConnection {
  /// Sends a message in fragments, with a PING between each two of them.
  fileprivate func send(_ bytes: [UInt8], isText: Bool, inFragmentsOf size: Int) async throws {
    var opcode: WebSocketOpcode = isText ? .text : .binary
    for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
      let end = min(bytes.count, start + max(1, size))
      try await send(
        frame: WebSocketFrame(opcode, Array(bytes[start..<end]), isFinal: end == bytes.count))
      try await ping([0x21])
      opcode = .continuation
    }
  }
}
