/// Tells from the middle of a connection whether it is WebSocket: never by one frame alone.
struct WebSocketRecognizer {
  let opening: FlowOpening

  enum Verdict {
    case undecided
    case no
    case webSocket(client: Side, evidence: String)
  }

  /// So many pieces are looked at; what has not shown itself then is not taken for WebSocket.
  private static let mostPieces = 24
  private static let mostBytes = 64 << 10

  /// Judges what has come so far.
  /// - Parameters:
  ///   - pieces: The pieces of both sides in the order of their coming.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What the connection is taken for.
  func judge(_ pieces: HeldPieces, isFinal: Bool) -> Verdict {
    let first = run(of: .first, in: pieces)
    let second = run(of: .second, in: pieces)
    if let client = client(first, second, pieces) {
      return .webSocket(client: client, evidence: Self.evidence(first, second, client))
    }
    let isOver = pieces.count > Self.mostPieces || pieces.byteCount > Self.mostBytes
    let isHopeless = pieces.count > 6 && first?.frames ?? 0 == 0 && second?.frames ?? 0 == 0
    return isFinal || isOver || isHopeless ? .no : .undecided
  }

  /// The longest run of a side that begins where one of its pieces begins; nil where there is none.
  private func run(of side: Side, in pieces: HeldPieces) -> WebSocketChain? {
    var best: WebSocketChain?
    let held = pieces[side]
    for stretch in held.stretches {
      let bytes = held.bytes.span.bytes.extracting(stretch.range)
      for start in stretch.starts {
        let chain = WebSocketChain(bytes, from: start)
        if chain.isBroken || chain.frames == 0 { continue }
        if chain.frames > best?.frames ?? 0 { best = chain }
      }
    }
    return best
  }

  /// Returns the side that masks its frames, if what both sides send is enough to say so.
  private func client(
    _ first: WebSocketChain?, _ second: WebSocketChain?, _ pieces: HeldPieces
  ) -> Side? {
    let masked = [(Side.first, first), (.second, second)].filter { $0.1?.isMasked == true }
    let plain = [(Side.first, first), (.second, second)].filter { $0.1?.isMasked == false }
    guard masked.count <= 1, plain.count <= 1 else { return nil }
    if let (side, chain) = masked.first, let chain {
      let server = plain.first?.1
      let weight = chain.weight + (server?.weight ?? 0)
      // Frames of both sides, or several of the client: no single header decides.
      let isEnough = weight >= (server == nil ? needed(of: side, in: pieces) : 10)
      return isEnough && chain.frames + (server?.frames ?? 0) >= 3 ? side : nil
    }
    // A server alone has no masks to show, only text after text.
    guard let (side, chain) = plain.first, let chain, chain.frames >= 4, chain.weight >= 12 else {
      return nil
    }
    return side.other
  }

  /// How much a client alone has to prove: more where its server speaks without a frame in what it
  /// says, which may be the middle of a large one, but is likelier to be another protocol.
  private func needed(of client: Side, in pieces: HeldPieces) -> Int {
    pieces[client.other].bytes.isEmpty ? 9 : 24
  }

  private static func evidence(
    _ first: WebSocketChain?, _ second: WebSocketChain?, _ client: Side
  ) -> String {
    let masked = (client == .first ? first : second)?.frames ?? 0
    let plain = (client == .first ? second : first)?.frames ?? 0
    return
      "no handshake; the first \(masked) frames of the client are masked and the first \(plain) of "
      + "the server are not, and each ends where the next begins"
  }
}
