internal import RepriseCore
internal import Wire

/// A clause about the head of a request or response that certain faults violate, as data.
struct HandshakeCondition {
  var rule: HandshakeRule
  /// The faults that violate it, each with its field; nil stands for any.
  var faults: [(code: WebSocketFault.Code, field: WebSocketField?)]
  /// The header without which the clause says nothing; nil where it always does.
  var header: String?
  var expected: String
  /// Whether nothing can be said when the first line can't be read.
  var needsStartLine = false
  /// Why what looks like a violation may be none; nil where it is one.
  var doubt: UndecidedReason?

  static let request: [HandshakeCondition] = [
    .init(
      rule: .targetHasNoFragment, faults: [(.fragmentInTarget, nil)],
      expected: "a request target without #", needsStartLine: true),
    .init(
      rule: .requestIsHTTP,
      faults: [
        (.malformedStartLine, nil), (.malformedHeader, nil), (.repeatedHeader, .host),
      ], expected: "a valid HTTP request"),
    .init(
      rule: .requestIsGET, faults: [(.notGET, nil), (.oldHTTPVersion, nil)],
      expected: "GET and HTTP/1.1 or higher", needsStartLine: true),
    .init(
      rule: .requestHasUpgrade, faults: [(.missingHeader, .upgrade)],
      expected: "Upgrade with websocket"),
    .init(
      rule: .requestHasConnection, faults: [(.missingHeader, .connection)],
      expected: "Connection with the token Upgrade"),
    .init(
      rule: .requestHasKey, faults: [(.missingHeader, .key), (.invalidKey, nil)],
      expected: "Sec-WebSocket-Key with the base64 of 16 bytes"),
    .init(
      rule: .requestHasVersion,
      faults: [(.missingHeader, .version), (.unsupportedVersion, nil)],
      expected: "Sec-WebSocket-Version: 13"),
    .init(
      rule: .offersAreTokens, faults: [(.invalidSubprotocol, nil)],
      header: "Sec-WebSocket-Protocol", expected: "tokens that are all different"),
    .init(
      rule: .keyStandsOnce, faults: [(.repeatedHeader, .key)], header: "Sec-WebSocket-Key",
      expected: "one Sec-WebSocket-Key"),
    .init(
      rule: .versionStandsOnce, faults: [(.repeatedHeader, .version)],
      header: "Sec-WebSocket-Version", expected: "one Sec-WebSocket-Version"),
  ]

  static let acceptance: [HandshakeCondition] = [
    .init(
      rule: .acceptanceIs101, faults: [(.malformedStartLine, nil), (.malformedHeader, nil)],
      expected: "a valid HTTP response"),
    .init(
      rule: .responseHasUpgrade, faults: [(.missingHeader, .upgrade)],
      expected: "Upgrade: websocket"),
    .init(
      rule: .responseHasConnection, faults: [(.missingHeader, .connection)],
      expected: "Connection: Upgrade"),
    .init(
      rule: .extensionsStandOnce, faults: [(.repeatedHeader, .extensions)],
      header: "Sec-WebSocket-Extensions", expected: "one Sec-WebSocket-Extensions",
      doubt: .erratumAllows),
    .init(
      rule: .acceptStandsOnce, faults: [(.repeatedHeader, .accept)],
      header: "Sec-WebSocket-Accept", expected: "one Sec-WebSocket-Accept"),
    .init(
      rule: .subprotocolStandsOnce, faults: [(.repeatedHeader, .subprotocol)],
      header: "Sec-WebSocket-Protocol", expected: "one Sec-WebSocket-Protocol"),
  ]

  /// Judges a head.
  func judge(
    _ handshake: WebSocketHandshake, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let faults = handshake.faults
    if let header, handshake.head.fields(named: header).isEmpty { return }
    if needsStartLine, faults.contains(where: { $0.code == .malformedStartLine }) {
      return tally.leave(rule, .unreadableStartLine, hearing)
    }
    let fault = faults.first { fault in
      self.faults.contains { $0.code == fault.code && ($0.field ?? fault.field) == fault.field }
    }
    guard let fault else { return tally.satisfy(rule, hearing) }
    if let doubt { return tally.leave(rule, doubt, hearing) }
    tally.violate(rule, event, hearing, .init(handshake, expected, fault))
  }
}

extension FindingText {
  /// What is said of a fault of a request or response.
  init(_ handshake: WebSocketHandshake, _ expected: String, _ fault: WebSocketFault) {
    self.init(handshake, expected, fault.value(in: handshake))
    message += ": \(fault.code.message)"
    cause = "\(fault.code.rawValue) \(fault.field.rawValue) \(fault.offset)"
  }

  /// What is said of a bad request or response.
  init(_ handshake: WebSocketHandshake, _ expected: String, _ actual: String) {
    let sender =
      switch handshake {
      case .request: "the client sent a bad request for WebSocket"
      case .response: "the server sent a bad answer to a request for WebSocket"
      }
    // One value may break two rules, each in its own way.
    self.init(sender, expected: expected, actual: actual, cause: "\(actual), not \(expected)")
  }
}
