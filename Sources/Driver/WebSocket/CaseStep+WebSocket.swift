import RepriseCore
import Wire

extension CaseStep.Action {
  /// The keys that a step of WebSocket may have besides `do`.
  var webSocketKeys: Set<String> {
    switch self {
    case .open: ["extensions"]
    case .connect:
      ["method", "target", "http", "headers", "extensions", "protocols", "await"]
    case .accept: ["status", "reason", "http", "headers", "extensions"]
    case .frame:
      Self.payloadKeys.union([
        "type", "opcode", "fin", "rsv", "masked", "maskingKey", "closeCode", "closeReason",
        "lengthForm", "length", "pieces",
      ])
    case .message:
      Self.payloadKeys.union([
        "type", "fragment", "compress", "repeat", "await", "seconds", "pieces",
      ])
    case .bytes: ["hex", "text", "pieces"]
    case .await: ["type", "end", "count", "seconds"]
    case .fence, .wait: ["seconds"]
    case .hold: ["types"]
    case .close: ["closeCode", "closeReason"]
    case .finish, .reset: []
    case .subscribe, .unsubscribe, .publish, .send, .release, .disconnect: []
    }
  }

  private static let payloadKeys: Set<String> = ["payload", "hex", "size"]
}

/// What a step of WebSocket says, in which values stand in the places that named them.
extension CaseFields {
  /// A text without control characters, as lines of a handshake are made of.
  func line(_ key: String) throws(DriverError) -> String? {
    guard let text = try text(key) else { return nil }
    guard !text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else {
      throw error(key, "has the end of a line in it; send such by bytes")
    }
    return text
  }

  /// The most bytes that a step sends.
  private static var most: Int { 20 << 20 }

  /// What a step says: a text, pairs of hexadecimal digits, or so many bytes.
  /// - Returns: The bytes; nil where the step has none of the keys.
  func payload() throws(DriverError) -> [UInt8]? {
    if let size = try integer("size", in: 0...Self.most) {
      return (0..<size).map { UInt8(ascii: "a") + UInt8(truncatingIfNeeded: $0 % 26) }
    }
    if self["hex"]?.text == "" { return [] }
    if self["hex"] != nil { return try hex() }
    return try text("payload").map { Array($0.utf8) }
  }

  /// The bytes that a step sends as they are: a text, or pairs of hexadecimal digits.
  func rawBytes() throws(DriverError) -> [UInt8] {
    guard let text = try text("text") else { return try hex() }
    return Array(text.utf8)
  }

  /// The size of the segments that bytes are sent in; nil where they are not cut.
  func pieces() throws(DriverError) -> Int? { try integer("pieces", in: 1...1 << 20) }

  /// The kind of a frame, by its name or its number.
  func opcode(orElse usual: WebSocketOpcode?) throws(DriverError) -> WebSocketOpcode {
    if let number = try integer("opcode", in: 0...15) {
      return WebSocketOpcode(rawValue: UInt8(truncatingIfNeeded: number))
    }
    guard let name = self["type"] else {
      guard let usual else { throw error("type", "is missing; it says what frame it is") }
      return usual
    }
    let known: [WebSocketOpcode] = [.continuation, .text, .binary, .close, .ping, .pong]
    guard let opcode = known.first(where: { "\($0.name)" == name.text }) else {
      let names = known.map { "\($0.name)" }.joined(separator: ", ")
      throw error("type", "names no frame: it is none of \(names)")
    }
    return opcode
  }

  /// The body of a Close frame: the code, and the reason behind it.
  func closeBody() throws(DriverError) -> [UInt8]? {
    guard let code = try integer("closeCode", in: 0...65_535) else { return nil }
    let reason = try text("closeReason") ?? ""
    return [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
      + Array(reason.utf8)
  }

  /// The answers that a step holds back.
  func held() throws(DriverError) -> Set<WebSocketEnd.Answer> {
    var held: Set<WebSocketEnd.Answer> = []
    for value in self["types"]?.elements ?? [] {
      guard let answer = value.text.flatMap(WebSocketEnd.Answer.init(rawValue:)) else {
        throw error("types", "has something that is neither PONG nor CLOSE")
      }
      held.insert(answer)
    }
    return held
  }
}
