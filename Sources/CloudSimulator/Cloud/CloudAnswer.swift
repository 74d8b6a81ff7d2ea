import RepriseCore

/// An answer before it is bytes.
struct CloudAnswer {
  var code: JSONValue = .number("200")
  var message = "success"
  var data: JSONValue?

  /// An answer that says what went wrong.
  static func failure(_ code: JSONValue, message: String? = nil) -> CloudAnswer {
    CloudAnswer(code: code, message: message ?? defaultMessage(code))
  }

  /// Whether the code is that of success, as a number or as text.
  var isSuccess: Bool { Self.isSuccess(code) }

  static func isSuccess(_ code: JSONValue) -> Bool {
    code == .number("200") || code == .string("200")
  }

  static func defaultMessage(_ code: JSONValue) -> String {
    let digits = code.text ?? code.integer.map(String.init) ?? ""
    return switch digits {
    case "200": "success"
    case "460": "bad param"
    case "2043": "check iotToken failed"
    case "2152": "distributed lock failed"
    case "2401": "refreshToken invalid"
    case "6205": "device offline"
    case "20056": "gateway timeout"
    default: "error"
    }
  }

  /// What a rule changes of the answer.
  mutating func apply(_ rule: CloudScript.Reply) {
    if let code = rule.code {
      self.code = code
      message = Self.defaultMessage(code)
      if !isSuccess { data = nil }
    }
    if let message = rule.message { self.message = message }
    if let data = rule.data { self.data = data }
  }

  /// The payload of the answer to a request, as wrong as it should be.
  func payload(to request: CloudRequest, faults: [CloudFault]) -> [UInt8] {
    if faults.contains(.emptyPayload) { return [] }
    if faults.contains(.notJSON) { return Array("<html>503 Service Unavailable</html>".utf8) }
    var members: [JSONMember] = []
    if !faults.contains(.noID) { members.append(JSONMember("id", id(of: request, faults))) }
    if !faults.contains(.noCode) { members.append(JSONMember("code", code)) }
    members.append(JSONMember("message", .string(message)))
    if let data, !faults.contains(.noData) { members.append(JSONMember("data", data)) }
    var bytes: [UInt8] = []
    JSONValue.object(members).append(to: &bytes)
    if faults.contains(.notUTF8) {
      // C3 announces a byte of continuation, and a quotation mark is none.
      bytes = bytes.dropLast() + Array(",\"note\":\"".utf8) + [0xC3] + Array("\"}".utf8)
    }
    return bytes
  }

  private func id(of request: CloudRequest, _ faults: [CloudFault]) -> JSONValue {
    var id = request.id
    if faults.contains(.wrongID) { id = Self.other(than: id) }
    if faults.contains(.numericID), let number = id.text.flatMap(UInt64.init) {
      id = .number(String(number))
    }
    return id
  }

  /// An identifier of the same type that nobody has used.
  private static func other(than id: JSONValue) -> JSONValue {
    switch id {
    case .number(let digits): .number(digits == "4294967295" ? "4294967294" : "4294967295")
    case .string(let text): .string(text == "4294967295" ? "4294967294" : "4294967295")
    case .null, .bool, .array, .object: .null
    }
  }
}
