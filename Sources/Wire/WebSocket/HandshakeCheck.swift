/// Collects what the head of an opening handshake breaks (RFC 6455 sections 4.1 and 4.2.2).
struct HandshakeCheck {
  let head: HTTPHead
  var faults: [WebSocketFault]

  init(_ head: HTTPHead) {
    self.head = head
    faults = head.faults
  }

  var sortedFaults: [WebSocketFault] { faults.sorted { $0.offset < $1.offset } }

  /// Notes a fault where the field stands, or at the start where it does not.
  mutating func note(_ code: WebSocketFault.Code, _ field: WebSocketField) {
    faults.append(WebSocketFault(code, in: field, at: offset(of: field)))
  }

  private func offset(of field: WebSocketField) -> Int {
    field.headerName.flatMap { head.fields(named: $0).first?.offset } ?? 0
  }

  // MARK: Header lines

  /// Expects a header that stands once, and returns its value.
  @discardableResult
  mutating func expectOne(_ name: String, _ field: WebSocketField) -> String? {
    let all = head.fields(named: name)
    if all.first?.value.isEmpty ?? true { note(.missingHeader, field) }
    expectAtMostOne(name, field)
    return all.first?.value
  }

  mutating func expectAtMostOne(_ name: String, _ field: WebSocketField) {
    guard let second = head.fields(named: name).dropFirst().first else { return }
    faults.append(WebSocketFault(.repeatedHeader, in: field, at: second.offset))
  }

  /// Expects a header whose list has a token.
  mutating func expect(_ name: String, _ field: WebSocketField, token: String) {
    if !head.list(name, has: token) { note(.missingHeader, field) }
  }

  /// Reads `METHOD target HTTP/1.1` (RFC 9112 section 3).
  mutating func checkRequestLine(_ parts: [Substring]) {
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), let version = version(parts[2])
    else { return note(.malformedStartLine, .startLine) }
    if parts[0] != "GET" { note(.notGET, .startLine) }
    if version.major < 1 || (version.major == 1 && version.minor < 1) {
      note(.oldHTTPVersion, .startLine)
    }
    if let hash = parts[1].utf8.firstIndex(of: UInt8(ascii: "#")) {
      let offset =
        parts[0].utf8.count + 1
        + parts[1].utf8.distance(
          from: parts[1].utf8.startIndex, to: hash)
      faults.append(WebSocketFault(.fragmentInTarget, in: .startLine, at: offset))
    }
  }

  private func version(_ text: Substring) -> (major: Int, minor: Int)? {
    let bytes = Array(text.utf8)
    guard bytes.count == 8, text.hasPrefix("HTTP/"), bytes[6] == UInt8(ascii: "."),
      let major = Int(text.dropFirst(5).prefix(1)), let minor = Int(text.suffix(1))
    else { return nil }
    return (major, minor)
  }

  // MARK: Lists

  /// Reads the subprotocols, which are different tokens; names that a recording hides by `***` may be.
  /// - Parameter isOffer: Whether they are a list, in which nothing at all may stand between two commas (RFC 2616
  ///   section 2.1), as long as there is one of them.
  /// - Returns: Their names in their order.
  mutating func subprotocols(isOffer: Bool) -> [String] {
    var names = head.list("Sec-WebSocket-Protocol")
    if isOffer, names.contains(where: { !$0.isEmpty }) { names.removeAll(where: \.isEmpty) }
    var seen: Set<String> = []
    let areAllowed = names.allSatisfy {
      HTTPText.isToken($0.utf8) && (seen.insert($0).inserted || $0.contains("***"))
    }
    if !areAllowed {
      note(.invalidSubprotocol, .subprotocol)
    }
    return names.filter { !$0.isEmpty }
  }

  mutating func extensions(in place: PermessageDeflate.Place) -> [WebSocketExtension] {
    var result: [WebSocketExtension] = []
    for field in head.fields(named: "Sec-WebSocket-Extensions") {
      let (extensions, isValid) = WebSocketExtension.parse(field.value)
      result += extensions
      if !isValid {
        faults.append(WebSocketFault(.malformedExtensions, in: .extensions, at: field.offset))
      }
    }
    let isValid = result.allSatisfy {
      $0.name != PermessageDeflate.name
        || PermessageDeflate.read($0.parameters, in: place).isValid
    }
    if !isValid { note(.invalidParameter, .extensions) }
    return result
  }

  // MARK: A response beside its request

  mutating func compare(
    _ accept: String?, _ subprotocol: String?, _ extensions: [WebSocketExtension],
    with request: WebSocketRequest
  ) {
    if let accept, let key = request.key, accept != WebSocketKey.accept(for: key) {
      note(.wrongAccept, .accept)
    }
    if let subprotocol, !request.subprotocols.contains(subprotocol) {
      note(.subprotocolNotOffered, .subprotocol)
    }
    let offers = ExtensionOffers(request.extensions)
    let offset = offset(of: .extensions)
    for accepted in extensions where !offers.has(accepted) {
      faults.append(WebSocketFault(.extensionNotOffered, in: .extensions, at: offset))
    }
  }
}

/// What a client offers, to look up what a server accepts: either may name thousands.
private struct ExtensionOffers {
  private var names: Set<String> = []
  /// The offers of permessage-deflate, of which only so many differ.
  private var deflates: Set<PermessageDeflate> = []

  init(_ extensions: [WebSocketExtension]) {
    for offered in extensions {
      names.insert(offered.name)
      guard offered.name == PermessageDeflate.name else { continue }
      deflates.insert(PermessageDeflate.read(offered.parameters, in: .offer).deflate)
    }
  }

  /// Whether an extension that a server accepts was offered, and the answer goes with an offer.
  func has(_ accepted: WebSocketExtension) -> Bool {
    guard accepted.name == PermessageDeflate.name else { return names.contains(accepted.name) }
    let answer = PermessageDeflate.read(accepted.parameters, in: .response).deflate
    return deflates.contains { answer.answers($0) }
  }
}
