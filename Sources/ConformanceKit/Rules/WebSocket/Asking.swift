internal import RepriseCore
internal import Wire

// The client's opening handshake: sections 3, 4.1 and 11.3.
extension WebSocketState {
  /// Judges a request, which may follow one that was refused.
  mutating func takeRequest(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    // A segment may begin inside of a method, and nothing before it is in the capture.
    let isMethodDoubtful = mayBeginInside && request.faults.contains { $0.code == .notGET }
    mayBeginInside = false
    self.request = RequestFacts(
      moment: Moment(event.context), subprotocols: request.subprotocols,
      extensions: request.extensions, missing: isMethodDoubtful ? nil : request.missing,
      hasOtherVersion: request.faults.contains { $0.code == .unsupportedVersion },
      hasBadExtensions: request.faults.contains { $0.code == .malformedExtensions },
      mayHaveCredentials: request.mayHaveCredentials,
      isHidden: request.head.hidesHandshake, size: request.reserved)
    response = nil
    let handshake = WebSocketHandshake.request(request)
    guard !request.head.hidesHandshake else {
      for condition in HandshakeCondition.request { tally.leave(condition.rule, .hidden, hearing) }
      return
    }
    for condition in HandshakeCondition.request {
      if condition.rule == .requestIsGET, isMethodDoubtful {
        tally.leave(.requestIsGET, .startNotCaptured, hearing)
      } else if condition.rule == .requestHasVersion, prefersLaterVersion(request) {
        tally.leave(.requestHasVersion, .laterVersion, hearing)
      } else {
        condition.judge(handshake, event, hearing, &tally)
      }
    }
    judgeServerName(request, event, hearing, &tally)
    judgeTarget(request, event, hearing, &tally)
    judgeHost(request, event, hearing, &tally)
    ExtensionRules(handshake).judge(event, hearing, &tally)
  }

  /// A client may first ask for the version that it prefers, and section 4.4 has one that prefers 25: a version above
  /// 13 is that of another document, while those below were drafts of this one or are set aside (section 11.6).
  private func prefersLaterVersion(_ request: WebSocketRequest) -> Bool {
    let versions = request.head.fields(named: "Sec-WebSocket-Version").map(\.value)
    guard versions.count == 1, let text = versions.first, let version = UInt8(text) else {
      return false
    }
    return version > 13 && String(version) == text
  }

  /// Where there is TLS, its hello names the server, if that has a name to be found by.
  ///
  /// A hello holds no address and nothing but fully qualified names (RFC 6066 section 3). A proxy may have dialled an
  /// address, and hand on the name that its own client asked for.
  private func judgeServerName(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let namesServer else { return }
    guard !namesServer else { return tally.satisfy(.serverIsNamed, hearing) }
    let host = request.head.fields(named: "Host").first?.value ?? ""
    guard HandshakeTarget.isQualifiedName(host) else { return }
    guard !Self.isHandedOn(request) else { return tally.leave(.serverIsNamed, .handedOn, hearing) }
    let name = WebSocketFault.withoutUser(host)
    tally.violate(
      .serverIsNamed, event, hearing,
      FindingText(
        "the client asked \(name) for WebSocket over TLS whose ClientHello names no server",
        expected: "a ClientHello with the extension server_name", actual: "none, with Host: \(name)"
      ))
  }

  /// Whether a request says that a proxy has handed it on (RFC 9110 section 7.6.3, RFC 7239, and what came before it).
  private static func isHandedOn(_ request: WebSocketRequest) -> Bool {
    ["Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"]
      .contains { !request.head.fields(named: $0).isEmpty }
  }

  /// The target is the resource name, or an address on the host that the request names.
  private func judgeTarget(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard !request.faults.contains(where: { $0.code == .malformedStartLine }) else {
      return tally.leave(.targetNamesResource, .unreadableStartLine, hearing)
    }
    let host = request.head.fields(named: "Host").first?.value
    guard let problem = HandshakeTarget.problem(with: request.target, host: host) else {
      return tally.satisfy(.targetNamesResource, hearing)
    }
    guard !HandshakeTarget.mayNameHost(request.target, host ?? "") else {
      return tally.leave(.targetNamesResource, .hostMayBeSame, hearing)
    }
    tally.violate(
      .targetNamesResource, event, hearing,
      .init(
        .request(request), "a path, or an http or https address with the host of Host", problem))
  }

  /// Looks whether a client waits for the answer to its request.
  mutating func judgePatience(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !self[.client].wasEarly, request != nil else { return }
    guard let response else {
      self[.client].wasEarly = true
      return tally.leave(.clientAwaitsAnswer, .answerNotSeen, hearing)
    }
    guard faults[.beforeAnswer] != nil else { return }
    self[.client].wasEarly = true
    tally.violate(
      .clientAwaitsAnswer, event, hearing,
      FindingText(
        "the client sent a \(frame.opcode.name) frame before the answer to its request came",
        expected: "nothing before the answer of frame \(response.moment.frame)",
        actual: "a frame in frame \(event.context.frame)"))
  }

  private func judgeHost(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let host = request.head.fields(named: "Host").first?.value ?? ""
    guard HandshakeTarget.isAuthority(host) else {
      return tally.violate(
        .requestHasHost, event, hearing,
        .init(
          .request(request), "Host with a host and, if not the default, a port",
          "Host: \"\(WebSocketFault.withoutUser(host))\""))
    }
    tally.satisfy(.requestHasHost, hearing)
  }
}

extension WebSocketRequest {
  /// Whether something in it may say who the client is: a header, or what stands behind the path.
  fileprivate var mayHaveCredentials: Bool {
    target.contains("?")
      || ["Authorization", "Cookie"].contains { !head.fields(named: $0).isEmpty }
  }
}

extension HTTPHead {
  /// Whether a header line of a handshake is hidden that its clauses are about; hidden subprotocols are read as what they
  /// stand for.
  var hidesHandshake: Bool {
    [
      "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version",
      "Sec-WebSocket-Accept", "Sec-WebSocket-Extensions",
    ].contains { name in
      fields(named: name).contains { Array($0.value.utf8).span.bytes.holdsHidden }
    }
  }
}
