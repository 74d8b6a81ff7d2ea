import RepriseCore
import Wire

extension CaseFields {
  /// The request that a step sends, which may be wrong in any way.
  /// - Parameters:
  ///   - target: What is asked for where the step says nothing of it, and of whom.
  ///   - key: The key where the step says nothing of it.
  /// - Returns: The head of the request.
  /// - Throws: ``DriverError`` that names the step and what is wrong.
  func request(of target: WebSocketTarget, key: String) throws(DriverError) -> HTTPHead {
    var fields: [HTTPHead.Field] = [
      .init("Host", target.host), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
      .init("Sec-WebSocket-Key", key), .init("Sec-WebSocket-Version", "13"),
    ]
    fields += target.headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
    if let extensions = try line("extensions"), !extensions.isEmpty {
      fields.append(.init("Sec-WebSocket-Extensions", extensions))
    }
    if let protocols = try line("protocols"), !protocols.isEmpty {
      fields.append(.init("Sec-WebSocket-Protocol", protocols))
    }
    let method = try line("method") ?? "GET"
    let path = try line("target") ?? target.path
    return HTTPHead(
      startLine: "\(method) \(path) \(try line("http") ?? "HTTP/1.1")",
      fields: try replaced(fields))
  }

  /// The answer that a step gives, which may be wrong in any way.
  /// - Parameter request: The request of the client; nil where none came, as when it is shown only.
  /// - Returns: The head of the answer.
  /// - Throws: ``DriverError`` that names the step and what is wrong.
  func answer(to request: WebSocketRequest?) throws(DriverError) -> HTTPHead {
    let status = try integer("status", in: 100...999) ?? 101
    let reason =
      try line("reason") ?? (status == 101 ? "Switching Protocols" : "As a case asks for")
    var fields: [HTTPHead.Field] = []
    if status == 101 {
      fields = [
        .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Accept", WebSocketKey.accept(for: request?.key ?? "")),
      ]
      if let extensions = try line("extensions"), isOffered(extensions, by: request) {
        fields.append(.init("Sec-WebSocket-Extensions", extensions))
      }
    } else {
      fields = [.init("Content-Length", "0"), .init("Connection", "close")]
    }
    return HTTPHead(
      startLine: "\(try line("http") ?? "HTTP/1.1") \(status) \(reason)",
      fields: try replaced(fields))
  }

  /// Whether an extension may be answered: what was not offered must not be.
  private func isOffered(_ extensions: String, by request: WebSocketRequest?) -> Bool {
    guard let request, let answer = WebSocketExtension.parse(extensions).extensions.first else {
      return request == nil
    }
    guard answer.name == PermessageDeflate.name else {
      return request.extensions.contains { $0.name == answer.name }
    }
    let agreed = PermessageDeflate.read(answer.parameters, in: .response).deflate
    return request.extensions.contains { offer in
      offer.name == answer.name
        && agreed.answers(PermessageDeflate.read(offer.parameters, in: .offer).deflate)
    }
  }

  /// Puts the step's own header lines in the place of those of their names.
  private func replaced(_ fields: [HTTPHead.Field]) throws(DriverError) -> [HTTPHead.Field] {
    var fields = fields
    for member in try members("headers") {
      let lines = try values(of: member).map { HTTPHead.Field(member.key, $0) }
      let name = member.key.lowercased()
      let place = fields.firstIndex { $0.name.lowercased() == name } ?? fields.endIndex
      fields.removeAll { $0.name.lowercased() == name }
      fields.insert(contentsOf: lines, at: min(place, fields.endIndex))
    }
    return fields
  }

  private func values(of member: JSONMember) throws(DriverError) -> [String] {
    if case .null = member.value { return [] }
    let values = member.value.elements ?? [member.value]
    let texts = values.compactMap(\.text)
    let hasEnds = texts.contains { $0.utf8.contains { $0 == 0x0A || $0 == 0x0D } }
    guard texts.count == values.count, !hasEnds, HTTPText.isToken(Array(member.key.utf8)) else {
      throw error(
        "headers", "has \(member.key), which is neither a line, a list of lines, nor null")
    }
    return texts
  }
}
