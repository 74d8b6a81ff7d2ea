package import RepriseCore
package import Wire

/// What names a call and its reply on topics of the SDK's cloud: the topic of the reply, and the id in the payload.
///
/// A call below `/sys/…/app/up` is answered below `/sys/…/app/down`, every other one on its own topic, with `_reply`
/// behind it.
struct CallNames {
  /// A hash of the reply's topic and of the id.
  let id: UInt64
  /// Whether the message is the reply.
  let isReply: Bool
  /// Whether the message says that it is a request; of others a reply may come, or not.
  let asksForReply: Bool

  /// The most bytes of a payload that are looked into.
  private static let longestPayload = 65_536
  private static let system = Array("/sys/".utf8)
  private static let external = Array("/ext/".utf8)
  private static let session = Array("/ext/session/".utf8)
  private static let ending = Array("_reply".utf8)
  private static let up = Array("/app/up/".utf8)
  private static let down = Array("/app/down/".utf8)

  /// Looks at a PUBLISH; nil where it is neither call nor reply.
  init?(_ packet: borrowing MQTTPacketView) {
    // Most topics are none of these, and cost no more than this look.
    let isOfCloud = packet.topic.withUnsafeBytes {
      $0.starts(with: Self.system) || $0.starts(with: Self.external)
    }
    guard isOfCloud, packet.payload.byteCount <= Self.longestPayload else { return nil }
    let name = Array(copying: packet.topic)
    guard let value = JSONValue(parsing: Array(copying: packet.payload)),
      let identifier = Self.identifier(value["id"])
    else { return nil }
    isReply = name.suffix(Self.ending.count).elementsEqual(Self.ending)
    let reply = isReply ? name : Self.replyTopic(of: name)
    let number = Array(identifier.utf8)
    id = Name.identity(of: reply.span.bytes, number.span.bytes)
    asksForReply =
      value["request"] != nil || value["system"] != nil || name.starts(with: Self.session)
  }

  private static func replyTopic(of name: [UInt8]) -> [UInt8] {
    // Of /sys/PRODUCT/DEVICE/app/up the two levels in front hold no such text: levels hold no slash.
    let slashes = name.indices.filter { name[$0] == UInt8(ascii: "/") }
    guard slashes.count > 5, name[slashes[3]...].starts(with: up) else { return name + ending }
    return name[..<slashes[3]] + down + name[slashes[5]...].dropFirst() + ending
  }

  private static func identifier(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text): text
    case .number(let digits): digits
    default: nil
    }
  }
}

/// How requests over WebSocket are told from other texts: by the keys of the SDK, of an app, and of JSON-RPC.
package final class RequestKeys: Sendable {
  /// Those of the SDK.
  package static let standard = RequestKeys(RequestEnvelope())

  fileprivate let envelope: RequestEnvelope
  /// Of what a text has at least one; nil where a key may be written in several ways.
  private let marks: [[UInt8]]?

  /// Creates the keys of an envelope.
  package init(_ envelope: RequestEnvelope) {
    self.envelope = envelope
    let isPlain = envelope.id.utf8.allSatisfy { $0 < 0x80 }
    marks = isPlain ? [JSONValue.string(envelope.id).utf8, Array("\"id\"".utf8)] : nil
  }

  /// Tells whether a text may be a request or an answer, at little cost.
  fileprivate func mayBe(in text: [UInt8]) -> Bool {
    marks?.contains { text.contains(sequence: $0) } ?? true
  }
}

/// What names a request over WebSocket, and its answer: JSON with the number of an envelope, or with an `id`.
package struct RequestIdentity {
  /// The number, or a hash of the id.
  package let id: UInt64
  /// Whether it answers a request of the other end.
  package let isAnswer: Bool
  /// Whether an answer has to come: to a heartbeat none has, nor to a message that only looks like a request.
  let asksForAnswer: Bool

  /// The most bytes of a text that are looked into.
  private static let longestText = 65_536

  /// Looks at a frame; nil where it is no such text.
  package init?(_ frame: borrowing WebSocketFrameView, of sender: Peer, _ keys: RequestKeys) {
    guard frame.opcode == .text, frame.header.isFinal, frame.missing == 0,
      frame.cargo != .mqtt, frame.cargo != .mqttConcealed,
      frame.data.byteCount <= Self.longestText
    else { return nil }
    let text = Array(copying: frame.data)
    guard keys.mayBe(in: text), let value = JSONValue(parsing: text), case .object = value
    else { return nil }
    let envelope = keys.envelope
    if let number = value[envelope.id]?.integer {
      id = UInt64(bitPattern: Int64(number))
      isAnswer = sender == .server
      asksForAnswer = value[envelope.service]?.text != envelope.heartbeat
      return
    }
    guard let name = Self.name(value["id"]) else { return nil }
    id = Name.identity(of: name.span.bytes)
    // Either end may ask by JSON-RPC 2.0 (sections 4 and 5), where a request with an id is answered; elsewhere the client
    // does.
    let isRequest = value["method"]?.text != nil
    let isResponse = value["result"] != nil || value["error"] != nil
    isAnswer = !isRequest && (isResponse || sender == .server)
    asksForAnswer = isRequest
  }

  /// The bytes that an id is told by: a number is another one than a text of its digits.
  private static func name(_ id: JSONValue?) -> [UInt8]? {
    switch id {
    case .string(let text): Array("s\(text)".utf8)
    case .number(let digits): Array("n\(digits)".utf8)
    default: nil
    }
  }
}

extension [UInt8] {
  /// Tells whether bytes stand somewhere in these.
  fileprivate func contains(sequence: [UInt8]) -> Bool {
    guard let first = sequence.first, count >= sequence.count else { return false }
    var index = startIndex
    while let found = self[index...].firstIndex(of: first) {
      if self[found...].starts(with: sequence) { return true }
      index = found + 1
    }
    return false
  }
}
