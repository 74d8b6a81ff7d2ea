internal import RepriseCore
internal import Wire

// The server's opening handshake: sections 4.2.2, 9 and 11.3.
extension WebSocketState {
  /// Judges the answer to a request.
  mutating func takeResponse(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    self.response = ResponseFacts(
      moment: Moment(event.context), accepts: response.accepts,
      subprotocol: response.subprotocol, extensions: response.extensions,
      size: response.extensions.reserved + (response.subprotocol?.reserved ?? 0))
    guard request?.isHidden != true, !response.head.hidesHandshake else {
      for condition in HandshakeCondition.acceptance {
        tally.leave(condition.rule, .hidden, hearing)
      }
      return
    }
    judgeRefusal(response, event, hearing, &tally)
    offend(response, event.context)
    guard response.accepts else { return judgeOtherStatus(response, event, hearing, &tally) }
    if request != nil {
      for peer in Peer.allCases { self[peer].message = .none }
    }
    let handshake = WebSocketHandshake.response(response)
    for condition in HandshakeCondition.acceptance {
      condition.judge(handshake, event, hearing, &tally)
    }
    judgeAccept(response, event, hearing, &tally)
    judgeSubprotocol(response, event, hearing, &tally)
    judgeOffers(response, event, hearing, &tally)
    ExtensionRules(handshake, answering: request?.extensions).judge(event, hearing, &tally)
  }

  /// A refusal may have any status but those that say that all went well.
  private func judgeOtherStatus(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard response.status < 300, !response.head.fields(named: "Sec-WebSocket-Accept").isEmpty
    else { return }
    tally.violate(
      .acceptanceIs101, event, hearing,
      .init(.response(response), "status 101", "status \(response.status)"))
  }

  private func judgeAccept(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let fault = response.faults.first {
      $0.code == .wrongAccept || ($0.code == .missingHeader && $0.field == .accept)
    }
    if let fault {
      let text = FindingText(
        .response(response), "Sec-WebSocket-Accept for the key of the request", fault)
      return tally.violate(.acceptAnswersKey, event, hearing, text)
    }
    guard request != nil else { return tally.leave(.acceptAnswersKey, .requestNotSeen, hearing) }
    tally.satisfy(.acceptAnswersKey, hearing)
  }

  private func judgeSubprotocol(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let fields = response.head.fields(named: "Sec-WebSocket-Protocol")
    guard !fields.isEmpty else { return tally.satisfy(.noEmptySubprotocol, hearing) }
    guard let chosen = response.subprotocol else {
      let text = FindingText(
        .response(response), "no Sec-WebSocket-Protocol", "Sec-WebSocket-Protocol: \"\"")
      return tally.violate(.noEmptySubprotocol, event, hearing, text)
    }
    guard let request else { return tally.leave(.subprotocolIsOffered, .requestNotSeen, hearing) }
    let isOne = !response.faults.contains { $0.code == .invalidSubprotocol }
    guard isOne, request.subprotocols.contains(chosen) else {
      let offers = WebSocketFault.names(request.subprotocols)
      let text = FindingText(
        .response(response), offers.isEmpty ? "no subprotocol" : "one of \(offers)",
        "Sec-WebSocket-Protocol: " + WebSocketFault.names(fields.map(\.value)))
      return tally.violate(.subprotocolIsOffered, event, hearing, text)
    }
    tally.satisfy(.subprotocolIsOffered, hearing)
  }

  /// The names of accepted extensions that the request does not have, as far as it is known.
  func extensionsNotOffered(in response: WebSocketResponse) -> [String] {
    guard let request else { return [] }
    return response.extensions.map(\.name).filter { name in
      !request.extensions.contains { $0.name == name }
    }
  }

  /// The names of the extensions; whether their parameters answer the offer is for another clause.
  private func judgeOffers(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rules: [HandshakeRule] = [.extensionsAreOffered, .serverAddsNoExtension]
    let strangers = extensionsNotOffered(in: response)
    for accepted in response.extensions {
      for rule in rules {
        guard let request else {
          tally.leave(rule, .requestNotSeen, hearing)
          continue
        }
        if !strangers.contains(accepted.name) {
          tally.satisfy(rule, hearing)
          continue
        }
        let offers = request.extensions.map(\.name).joined(separator: ", ")
        tally.violate(
          rule, event, hearing,
          .init(
            .response(response), offers.isEmpty ? "no extension" : "extensions among \(offers)",
            "extension \"\(accepted.name)\""))
      }
    }
  }
}
