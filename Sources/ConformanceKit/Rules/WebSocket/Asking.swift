internal import RepriseCore
internal import Wire

// The client's opening handshake: sections 3, 4.1 and 11.3.
extension WebSocketState {
  /// Judges a request, which may follow one that was refused.
  mutating func takeRequest(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    self.request = RequestFacts(
      moment: Moment(event.context), subprotocols: request.subprotocols,
      extensions: request.extensions, missing: request.missing,
      hasOtherVersion: request.faults.contains { $0.code == .unsupportedVersion },
      hasBadExtensions: request.faults.contains { $0.code == .malformedExtensions },
      size: request.reserved)
    response = nil
    let handshake = WebSocketHandshake.request(request)
    for condition in HandshakeCondition.request {
      condition.judge(handshake, event, hearing, &tally)
    }
    judgeServerName(request, event, hearing, &tally)
    judgeTarget(request, event, hearing, &tally)
    judgeHost(request, event, hearing, &tally)
    ExtensionRules(handshake).judge(event, hearing, &tally)
  }

  /// Where there is TLS, its hello names the server, if that has a name to be found by: a hello holds no address and
  /// nothing but fully qualified names (RFC 6066 section 3).
  private func judgeServerName(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let namesServer else { return }
    guard !namesServer else { return tally.satisfy(.serverIsNamed, hearing) }
    let host = request.head.fields(named: "Host").first?.value ?? ""
    guard HandshakeTarget.isQualifiedName(host) else { return }
    let name = WebSocketFault.withoutUser(host)
    tally.violate(
      .serverIsNamed, event, hearing,
      FindingText(
        "the client asked \(name) for WebSocket over TLS whose ClientHello names no server",
        expected: "a ClientHello with the extension server_name", actual: "none, with Host: \(name)"
      ))
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

/// The addresses in a request (RFC 9112 section 3.2, RFC 3986 sections 3.2.2 and 3.2.3).
enum HandshakeTarget {
  /// Tells what is wrong with a request target.
  /// - Parameters:
  ///   - target: The request target.
  ///   - host: The value of `Host`, if there is one.
  /// - Returns: What is there, or nil where nothing is wrong.
  static func problem(with target: String, host: String?) -> String? {
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      let place = target.utf8.enumerated().first { !(0x21...0x7E).contains($0.element) }
      return "byte \(place?.element.hexadecimal ?? "") at place \(place?.offset ?? 0) of the target"
    }
    if target.hasPrefix("/") { return nil }
    guard
      let scheme = ["http", "https"].first(where: { target.lowercased().hasPrefix("\($0)://") })
    else { return "the target \(shown(target))" }
    let authority = target.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" }
    // Without Host there is nothing to compare with; that it is missing is for its own clause.
    guard let host, !host.isEmpty else { return nil }
    let port = scheme == "http" ? ":80" : ":443"
    let isSame = normal(String(authority), port) == normal(host, port)
    let address = "\(scheme)://\(WebSocketFault.withoutUser(String(authority)))"
    return isSame
      ? nil : "the target \"\(address)…\" beside Host: \"\(WebSocketFault.withoutUser(host))\""
  }

  /// A target without what may be secret in it: its query, and a user.
  private static func shown(_ target: String) -> String {
    let path = target.prefix { $0 != "?" && $0 != "@" }.prefix(80)
    return "\"\(path)\(path.utf8.count < target.utf8.count ? "…" : "")\""
  }

  /// A host in small letters, without the port that is meant anyway.
  private static func normal(_ authority: String, _ port: String) -> String {
    let text = authority.lowercased()
    return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
  }

  /// Tells whether a text is, with or without a port, the name of a host with the domain that it is in, and no address.
  static func isQualifiedName(_ text: String) -> Bool {
    guard isAuthority(text), !text.hasPrefix("[") else { return false }
    let labels = text.prefix { $0 != ":" }.split(separator: ".", omittingEmptySubsequences: false)
    // The last label of an address is a number (RFC 3696 section 2: that of a name is not).
    guard labels.count > 1, let last = labels.last(where: { !$0.isEmpty }) else { return false }
    return last.contains { $0.isLetter }
  }

  /// Tells whether a text is a host with or without a port.
  static func isAuthority(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let end = bytes.last == UInt8(ascii: "]") ? nil : bytes.lastIndex(of: UInt8(ascii: ":"))
    if let end {
      let port = bytes[(end + 1)...]
      guard port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
    }
    let host = bytes[..<(end ?? bytes.count)]
    if host.first == UInt8(ascii: "[") {
      let inside = host.dropFirst().dropLast()
      let isText = inside.allSatisfy { (0x21...0x7E).contains($0) && !"[]/".utf8.contains($0) }
      return host.last == UInt8(ascii: "]") && !inside.isEmpty && isText
    }
    return !host.isEmpty
      && host.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@[]:\\\"<>,".utf8.contains($0) }
  }
}
