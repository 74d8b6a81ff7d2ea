import RepriseCore
import Wire

extension CasePlan {
  /// Says what its steps send, without sending it: what is known only from answers stands as `{…}`.
  /// - Parameter target: What is asked for by WebSocket; nil where nobody has said.
  /// - Returns: A line a step.
  /// - Throws: ``DriverError`` for a step that can't be done.
  package func preview(of target: WebSocketTarget? = nil) throws(DriverError) -> String {
    var text = "\(name): \(driven.title)" + (values.isEmpty ? "" : " (\(shownValues))") + "\n"
    var messages = 0
    for step in steps {
      messages += 1
      let line = try preview(step, messages, target ?? .unnamed)
      text +=
        "  " + (step.client.isEmpty ? "" : step.client + " ") + step.action.rawValue + line + "\n"
    }
    return text
  }

  /// What stands for what is known only when the case is run.
  private func previewValue(_ name: Substring) -> JSONValue? {
    switch name {
    case "t": .string("reprise/RUN/\(topicLevel)")
    case "tail": .string("RUN/\(topicLevel)")
    case "session": false
    default: name == "id" || name.hasSuffix(".id") ? 1 : versionValue(name)
    }
  }

  private func preview(
    _ step: CaseStep, _ number: Int, _ target: WebSocketTarget
  ) throws(DriverError) -> String {
    var fields = step.filled { name in value(of: name, orElse: previewValue) }
    guard driven.kind.speaksMQTT else { return try webSocketPreview(step, fields, to: target) }
    if driven.kind == .client, step.action == .publish {
      fields = fields.with("topic", orElse: "{topic}")
    }
    switch step.action {
    case .bytes: return "  " + Self.hex(try fields.hex())
    case .accept, .connect, .subscribe, .unsubscribe, .publish, .send, .fence, .disconnect:
      let packet = try StepPacket(
        step, fields,
        StepPacket.Defaults(
          clientID: "{\(step.client).name}", credentials: shownCredentials,
          payload: "\(name) \(number)", packetID: UInt16(truncatingIfNeeded: number)),
        version ?? .v5_0)
      return "  " + Self.hex(packet.bytes)
    case .await:
      _ = try fields.seconds(orElse: 2)
      return "  " + (fields["type"]?.text ?? "the end of the connection")
    case .hold:
      return "  " + (try fields.types()).map { "\($0.name)" }.sorted().joined(separator: " ")
    case .wait: return "  \(try fields.seconds(orElse: 1))"
    case .open, .release, .finish, .reset, .frame, .message, .close: return ""
    }
  }

  /// What stands for what lets clients in, in a case that is about it: the data are no one's to see.
  private var shownCredentials: BrokerPlace.Credentials {
    guard driven.needs.contains(.authentication) else { return BrokerPlace.Credentials() }
    return BrokerPlace.Credentials(
      authentication: Authentication(method: "{method}", data: [Array("{data}".utf8)]))
  }

  /// The most bytes of a packet that are shown.
  private static let mostShown = 48

  static func hex(_ bytes: [UInt8]) -> String {
    let shown = bytes.prefix(mostShown).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    let rest = bytes.count - mostShown
    return shown.joined(separator: " ") + (rest > 0 ? " … \(rest) bytes more" : "")
  }
}
