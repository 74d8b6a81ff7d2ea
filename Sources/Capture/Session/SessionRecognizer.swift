import RepriseCore
import Wire

/// Tells from the bytes of a connection, on whatever port, what it speaks.
struct SessionRecognizer {
  let opening: FlowOpening
  let rule: DecodeRule?
  /// Whether other connections to the same server speak MQTT.
  var isServerKnown = false

  enum Verdict {
    /// More bytes are needed.
    case undecided
    /// More bytes are needed, but those that came are of no use any more: the connection may be in the
    /// middle of a large packet.
    case later
    /// Nothing that is decoded.
    case foreign
    case mqtt(client: Side, wire: WireProtocol, evidence: String?)
    /// HTTP, which may ask for WebSocket, or is what the user wants to see.
    case http(client: Side)
    /// WebSocket without its handshake.
    case webSocket(client: Side, evidence: String?)
    /// TLS, of which only the hellos can be read.
    case tls(client: Side)
  }

  /// Judges the first bytes of a connection where they lie, which is all that most connections need.
  /// - Returns: Nil when that is not enough to tell.
  func judge(firstBytes bytes: RawSpan, of side: Side) -> Verdict? {
    if case .none? = rule { return .foreign }
    let tls = TLSRecognizer(opening: opening)
    if let client = tls.client(firstBytes: bytes, of: side) { return .tls(client: client) }
    if rule == .tls { return nil }
    if rule != .webSocket, rule != .http {
      let mqtt = MQTTRecognizer(opening: opening, rule: rule)
      if let verdict = mqtt.judge(firstBytes: bytes, of: side) { return Self.verdict(verdict) }
    }
    return HTTPStart(bytes) == .request && mayBeHTTP ? .http(client: side) : nil
  }

  /// Judges what has come so far.
  /// - Parameters:
  ///   - pieces: The pieces of both sides in the order of their coming.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What the connection is taken for.
  func judge(_ pieces: HeldPieces, isFinal: Bool) -> Verdict {
    if case .none? = rule { return .foreign }
    let tls = TLSRecognizer(opening: opening)
    if let client = tls.client(pieces, isFinal: isFinal) { return .tls(client: client) }
    if !isFinal, tls.mayBegin(pieces) { return .undecided }
    if rule == .tls { return Self.isOver(pieces, isFinal: isFinal) ? .foreign : .undecided }
    let http = mayBeHTTP ? http(pieces, isFinal: isFinal) : nil
    if let http { return http }
    if rule == .webSocket { return forced(pieces, isFinal: isFinal) }
    if rule == .http { return Self.isOver(pieces, isFinal: isFinal) ? .foreign : .undecided }
    let mqtt = MQTTRecognizer(opening: opening, rule: rule, isServerKnown: isServerKnown)
      .judge(pieces, isFinal: isFinal)
    guard rule == nil, !(opening.isFromStart && pieces.isComplete) else {
      return Self.verdict(mqtt)
    }
    if case .mqtt = mqtt { return Self.verdict(mqtt) }
    let webSocket = WebSocketRecognizer(opening: opening).judge(pieces, isFinal: isFinal)
    switch (webSocket, mqtt) {
    case (.webSocket(let client, let evidence), _):
      return .webSocket(client: client, evidence: evidence)
    case (.undecided, .notMQTT): return .undecided
    default: return Self.verdict(mqtt)
    }
  }

  private var mayBeHTTP: Bool { rule == nil || rule == .webSocket || rule == .http }

  private static func verdict(_ verdict: MQTTRecognizer.Verdict) -> Verdict {
    switch verdict {
    case .undecided: .undecided
    case .later: .later
    case .notMQTT: .foreign
    case .mqtt(let client, let wire, let evidence):
      .mqtt(client: client, wire: wire, evidence: evidence)
    }
  }

  /// Looks for a request, or for the answer to one; nil where there is neither.
  private func http(_ pieces: HeldPieces, isFinal: Bool) -> Verdict? {
    for side in [Side.first, .second] {
      let held = pieces[side]
      switch HTTPStart(held.bytes.span.bytes.extracting(held.start)) {
      case .request: return .http(client: side)
      case .response: return .http(client: side.other)
      // Where HTTP is known to be, a first line is waited for in however small pieces it comes.
      case .maybe where !isFinal && !held.isCut && (rule == .http || pieces.count < 64):
        return .undecided
      case .maybe, .no: break
      }
    }
    // In the middle of a connection a request may begin with any segment.
    guard !(opening.isFromStart && pieces.isComplete) else { return nil }
    for piece in pieces.pieces {
      switch piece.start {
      case .request: return .http(client: piece.side)
      case .response: return .http(client: piece.side.other)
      case .maybe, .no: continue
      }
    }
    return nil
  }

  /// Whether no more is waited for, whatever the user said.
  private static func isOver(_ pieces: HeldPieces, isFinal: Bool) -> Bool {
    isFinal || pieces.count > 64 || pieces.byteCount > 64 << 10
  }

  /// Takes the connection for WebSocket on the user's word, unless no piece of it begins with a frame.
  private func forced(_ pieces: HeldPieces, isFinal: Bool) -> Verdict {
    let isOver = Self.isOver(pieces, isFinal: isFinal)
    for side in [Side.first, .second] {
      let held = pieces[side]
      for stretch in held.stretches {
        let bytes = held.bytes.span.bytes.extracting(stretch.range)
        for start in stretch.starts {
          guard case .header(let header) = WebSocketFrameHeader.read(bytes, at: start) else {
            continue
          }
          let chain = WebSocketChain(bytes, from: start)
          // A frame that goes on beyond the bytes is one when nothing better comes.
          let isEnough = chain.isBroken ? chain.frames > 1 : chain.frames > 0 || isOver
          guard isEnough else { continue }
          return .webSocket(client: header.isMasked ? side : side.other, evidence: nil)
        }
      }
    }
    return isOver ? .foreign : .undecided
  }
}
