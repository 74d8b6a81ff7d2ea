import Wire

extension Event.Body {
  /// Reads an event of WebSocket; nil when the type is none.
  init?(
    webSocket fields: RecordingFields, type: String, sender: Peer
  ) throws(RecordingError) {
    switch type {
    case "UPGRADE": self = .handshake(.request(try WebSocketRequest(fields)))
    case "UPGRADED", "REFUSED":
      let response = try WebSocketResponse(fields)
      guard response.accepts == (type == "UPGRADED") else {
        throw fields.wrong("status", "does not go with \"type\"")
      }
      self = .handshake(.response(response))
    default:
      guard let opcode = try WebSocketOpcode(fields, type: type) else { return nil }
      self = .webSocket(try WebSocketFrame(fields, opcode))
    }
  }
}

extension WebSocketOpcode {
  private static let byName: [String: WebSocketOpcode] = Dictionary(
    uniqueKeysWithValues: named.map { (String(describing: $0.name), $0) })

  /// The opcodes that have a meaning.
  static let named: [WebSocketOpcode] = [.continuation, .text, .binary, .close, .ping, .pong]

  fileprivate init?(_ fields: RecordingFields, type: String) throws(RecordingError) {
    if type == "RESERVED" {
      self.init(rawValue: UInt8(truncatingIfNeeded: try fields.integer("opcode", in: 3...15)))
      if isDefined { throw fields.wrong("opcode", "is none of the reserved ones") }
      return
    }
    guard let opcode = Self.byName[type] else { return nil }
    self = opcode
  }
}

extension WebSocketFrame {
  init(_ fields: RecordingFields, _ opcode: WebSocketOpcode) throws(RecordingError) {
    let isCompressed = try fields.flag("compressed")
    let reason = try fields.optionalString("notInflated")
    if fields.value("bytes") != nil {
      try self.init(captured: fields, opcode)
      if isCompressed, reason == nil { inflated = try fields.data("payload") }
    } else {
      try self.init(plain: fields, opcode)
      // The bytes were left out with a secret in them: what is left says the same uncompressed.
      if isCompressed, reason == nil { header.firstByte &= 0b1011_1111 }
    }
    if let reason {
      guard let known = WebSocketCompression.Reason(rawValue: reason) else {
        throw fields.wrong("notInflated", "is no reason that this program knows")
      }
      keptCompressed = known
    }
    if try fields.optionalString("carries") == "mqtt" {
      cargo = try fields.flag("concealed") ? .mqttConcealed : .mqtt
    } else if try fields.flag("concealed") {
      cargo = .concealed
    }
    contextFaults = try fields.contextFaults()
  }

  /// Reads a frame whose fields give its bytes.
  private init(plain fields: RecordingFields, _ opcode: WebSocketOpcode) throws(RecordingError) {
    let bits = fields.value("rsv") == nil ? 0 : try fields.integer("rsv", in: 0...7)
    self.init(
      opcode, try Self.payload(fields, opcode), isFinal: try fields.bool("fin"),
      reservedBits: UInt8(truncatingIfNeeded: bits), maskingKey: try fields.maskingKey())
    guard fields.value("missing") != nil else { return }
    // The bytes were left out, as they would have told a secret. A length that nothing can have
    // leaves more missing than any other number of a recording may be.
    let missing = UInt64(try fields.integer("missing", in: 0...Int.max))
    header = WebSocketFrameHeader(
      opcode, isFinal: header.isFinal, reservedBits: header.reservedBits,
      payloadLength: UInt64(payload.count) + missing, maskingKey: header.maskingKey)
  }

  /// The payload as the fields have it; of a Close whose reason is hidden the status code is not.
  private static func payload(
    _ fields: RecordingFields, _ opcode: WebSocketOpcode
  ) throws(RecordingError) -> [UInt8] {
    guard opcode == .close, fields.value("payload")?.text == RedactionRules.mark,
      fields.value("closeCode") != nil
    else { return try fields.data("payload") }
    let code = try fields.uint16("closeCode")
    return [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(try fields.string("closeReason").utf8)
  }

  private init(captured fields: RecordingFields, _ opcode: WebSocketOpcode) throws(RecordingError) {
    guard let bytes = Base64.decode(try fields.string("bytes")) else {
      throw fields.wrong("bytes", "is not canonical base 64")
    }
    guard let frame = WebSocketFrame(bytes: bytes) else {
      throw fields.wrong("bytes", "is no frame, or longer than its length says")
    }
    guard frame.header.opcode == opcode else {
      throw fields.wrong("bytes", "is a frame of another type than \"type\" says")
    }
    // A length that nothing can have leaves more missing than a number of JSON is exact for.
    let missing = Int(clamping: frame.header.payloadLength) - frame.payload.count
    if missing <= RecordingFields.maximumInteger {
      let stated = fields.value("missing") == nil ? 0 : try fields.integer("missing")
      guard stated == missing else {
        throw fields.wrong("bytes", "and \"missing\" do not add up to its length")
      }
    }
    self = frame
  }
}

extension WebSocketRequest {
  fileprivate init(_ fields: RecordingFields) throws(RecordingError) {
    if let head = try fields.capturedHead() {
      self.init(head)
      return
    }
    let line =
      "\(try fields.string("method")) \(try fields.string("target")) \(try fields.string("http"))"
    self.init(HTTPHead(startLine: line, fields: try fields.headers()))
  }
}

extension WebSocketResponse {
  fileprivate init(_ fields: RecordingFields) throws(RecordingError) {
    let context = try fields.contextFaults()
    if let head = try fields.capturedHead() {
      self.init(head, context: context)
      return
    }
    let status = try fields.integer("status", in: 0...999)
    let line = "\(try fields.string("http")) \(status) \(try fields.string("reason"))"
    self.init(HTTPHead(startLine: line, fields: try fields.headers()), context: context)
  }
}

extension RecordingFields {
  fileprivate func maskingKey() throws(RecordingError) -> UInt32? {
    guard try bool("masked") else { return nil }
    let text = try string("maskingKey")
    guard text.utf8.count == 8, !text.hasPrefix("+"), let key = UInt32(text, radix: 16) else {
      throw wrong("maskingKey", "is none of eight hexadecimal digits")
    }
    return key
  }

  /// The faults that the bytes alone don't show.
  fileprivate func contextFaults() throws(RecordingError) -> [WebSocketFault] {
    var result: [WebSocketFault] = []
    for value in try array("errors") {
      guard case .object(let members) = value else {
        throw wrong("errors", "holds something that is no object")
      }
      let error = RecordingFields(members, line: line, offset: column(of: "errors") - 1)
      guard let code = WebSocketFault.Code(rawValue: try error.string("code")),
        let field = WebSocketField(rawValue: try error.string("field"))
      else { throw wrong("errors", "holds an error that this program does not know") }
      guard code.needsContext else { continue }
      result.append(WebSocketFault(code, in: field, at: try error.integer("offset")))
    }
    return result
  }

  func capturedHead() throws(RecordingError) -> HTTPHead? {
    guard value("bytes") != nil else { return nil }
    guard let bytes = Base64.decode(try string("bytes")) else {
      throw wrong("bytes", "is not canonical base 64")
    }
    return HTTPHead(bytes)
  }

  func headers() throws(RecordingError) -> [HTTPHead.Field] {
    var result: [HTTPHead.Field] = []
    for value in try array("headers") {
      guard case .array(let pair) = value, pair.count == 2, let name = pair.first?.text,
        let text = pair.last?.text
      else { throw wrong("headers", "is no array of [name, value] pairs") }
      result.append(.init(name, text))
    }
    return result
  }
}
