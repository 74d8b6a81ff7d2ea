internal import RepriseCore
internal import Wire

/// Judges the extensions of a request or response: sections 4.3, 9 and 9.1, and RFC 7692 section 7.
struct ExtensionRules {
  /// The extensions that IANA has registered (section 11.4), with the parameters that they define.
  private static let registered: [String: Set<String>] = [
    PermessageDeflate.name: [
      "server_no_context_takeover", "client_no_context_takeover", "server_max_window_bits",
      "client_max_window_bits",
    ],
    // TR-369 of the Broadband Forum.
    "bbf-usp-protocol": ["eid"],
  ]

  private let handshake: WebSocketHandshake
  private let extensions: [WebSocketExtension]
  private let place: PermessageDeflate.Place
  /// What a response answers, if that is known.
  private let offers: [WebSocketExtension]?

  /// Creates a judge of a request, or of a response to certain offers.
  init(_ handshake: WebSocketHandshake, answering offers: [WebSocketExtension]? = nil) {
    self.handshake = handshake
    self.offers = offers
    switch handshake {
    case .request(let request): (extensions, place) = (request.extensions, .offer)
    case .response(let response): (extensions, place) = (response.extensions, .response)
    }
  }

  func judge(_ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally) {
    judgeQuotes(event, hearing, &tally)
    if let fault = handshake.faults.first(where: { $0.code == .malformedExtensions }) {
      violate(
        .extensionsAreRegistered, "extensions in the syntax of section 9.1",
        fault.value(in: handshake), event, hearing, &tally)
    }
    for named in extensions {
      judgeNames(named, event, hearing, &tally)
      judgeParameters(named, event, hearing, &tally)
    }
  }

  private func violate(
    _ rule: HandshakeRule, _ expected: String, _ actual: String, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    tally.violate(rule, event, hearing, .init(handshake, expected, actual))
  }

  private func judgeNames(
    _ named: WebSocketExtension, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let parameters = Self.registered[named.name] else {
      return violate(
        .extensionsAreRegistered, "registered extensions", "extension \"\(named.name)\"", event,
        hearing, &tally)
    }
    guard let unknown = named.parameters.first(where: { !parameters.contains($0.name) }) else {
      return tally.satisfy(.extensionsAreRegistered, hearing)
    }
    violate(
      .extensionsAreRegistered, "parameters that \(named.name) defines",
      "parameter \"\(unknown.name)\"", event, hearing, &tally)
  }

  private func judgeParameters(
    _ named: WebSocketExtension, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard named.name == PermessageDeflate.name else {
      return tally.leave(.parametersAreDefined, .unknownExtension, hearing)
    }
    let known = Self.registered[named.name] ?? []
    // One that is not defined breaks another clause.
    let parameters = named.parameters.filter { known.contains($0.name) }
    let (deflate, isValid) = PermessageDeflate.read(parameters, in: place)
    guard isValid else {
      return violate(
        .parametersAreDefined, "each parameter once, windows of 8 to 15 bits", "\"\(named)\"",
        event,
        hearing, &tally)
    }
    let offered = offers?.filter { $0.name == named.name } ?? []
    let answers = offered.contains {
      deflate.answers(PermessageDeflate.read($0.parameters, in: .offer).deflate)
    }
    guard place == .offer || offered.isEmpty || answers else {
      let texts = offered.map(\.description).joined(separator: ", ")
      return violate(
        .parametersAreDefined, "an answer to the offer \(texts)", "\"\(named)\"", event, hearing,
        &tally)
    }
    tally.satisfy(.parametersAreDefined, hearing)
  }

  // MARK: Quotes

  /// Looks at the quoted values in the header lines, which the parser only reads where they are right.
  private func judgeQuotes(_ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally) {
    for field in handshake.head.fields(named: "Sec-WebSocket-Extensions") {
      for value in QuotedValues.find(in: Array(field.value.utf8)) {
        guard HTTPText.isToken(value) else {
          violate(
            .quotedValuesAreTokens, "a token within the quotes",
            "\"\(String(decoding: value, as: UTF8.self))\"", event, hearing, &tally)
          continue
        }
        tally.satisfy(.quotedValuesAreTokens, hearing)
      }
    }
  }
}

/// The quoted strings of a header line (RFC 9110 section 5.6.4).
private enum QuotedValues {
  /// Returns them without their quotes; one that never ends is left out, because it is no value.
  static func find(in bytes: [UInt8]) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var current: [UInt8]?
    var isEscaped = false
    for byte in bytes {
      guard current != nil else {
        if byte == UInt8(ascii: "\"") { current = [] }
        continue
      }
      if isEscaped {
        current?.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        values.append(current ?? [])
        current = nil
      } else {
        current?.append(byte)
      }
    }
    return values
  }
}
