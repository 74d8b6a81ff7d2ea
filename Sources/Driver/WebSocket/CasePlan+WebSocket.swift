import RepriseCore
import Wire

extension CasePlan {
  /// Says what a step of WebSocket sends.
  func webSocketPreview(
    _ step: CaseStep, _ fields: CaseFields, to target: WebSocketTarget
  ) throws(DriverError) -> String {
    _ = try fields.pieces()
    switch step.action {
    case .open, .connect, .accept: return try handshakePreview(fields, of: target)
    case .frame:
      let key: UInt32? = driven.subjects.contains(.server) ? 0 : nil
      return "  " + Self.hex(try fields.frame(maskedBy: key).encoded())
    case .message:
      _ = try fields.seconds(orElse: 2)
      let frames = try fields.messageFrames(maskedBy: { nil }, { _ in nil })
      let count = try fields.integer("repeat", in: 1...1_000) ?? 1
      return "  " + Self.hex(frames.flatMap { $0.encoded() })
        + (count > 1 ? ", \(count) times" : "")
    case .bytes: return "  " + Self.hex(try fields.rawBytes())
    case .await:
      _ = try fields.seconds(orElse: 2)
      guard let type = fields["type"] else { return "  the end of the connection" }
      if type.text != "MESSAGE" { _ = try fields.opcode(orElse: nil) }
      return "  \(type.text ?? "")"
    case .fence:
      _ = try fields.seconds(orElse: 2)
      return "  89 00"
    case .hold: return "  " + (try fields.held()).map(\.rawValue).sorted().joined(separator: " ")
    case .close:
      let body = try fields.closeBody() ?? [0x03, 0xE8]
      return "  " + Self.hex(WebSocketFrame(.close, body).encoded())
    case .wait: return "  \(try fields.seconds(orElse: 1))"
    case .finish, .reset, .subscribe, .unsubscribe, .publish, .send, .release, .disconnect:
      return ""
    }
  }

  private func handshakePreview(
    _ fields: CaseFields, of target: WebSocketTarget
  ) throws(DriverError) -> String {
    let head =
      driven.subjects.contains(.server)
      ? try fields.request(of: target, key: "KEY") : try fields.answer(to: nil)
    return "  "
      + ([head.startLine] + head.fields.map { "\($0.name): \($0.value)" })
      .joined(separator: " | ")
  }
}
