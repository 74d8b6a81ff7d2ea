/// Tells whether a connection speaks TLS, whose contents can't be read.
struct TLSRecognizer {
  let opening: FlowOpening

  /// Judges the first bytes of a side.
  /// - Returns: The side that is the client, if they begin a handshake.
  func client(firstBytes bytes: RawSpan, of side: Side) -> Side? {
    switch Self.hello(bytes) {
    case 1: side
    case 2: side.other
    default: nil
    }
  }

  /// The type of the message that bytes begin with as a handshake does: 1 is a ClientHello, and 2 a ServerHello.
  static func hello(_ bytes: RawSpan) -> UInt8? {
    guard let record = TLSRecord(bytes), record.type == TLSRecord.handshake,
      let message = bytes.uint8(at: TLSRecord.headerSize)
    else { return nil }
    // No hello is shorter than its fixed fields; it may go on in other records.
    if record.length < Self.shortestHello {
      guard record.length >= 4, let high = bytes.uint8(at: TLSRecord.headerSize + 1),
        let low = bytes.uint16(at: TLSRecord.headerSize + 2)
      else { return nil }
      let length = Int(high) << 16 | Int(low)
      guard (Self.shortestHello - 4...Self.longestHello).contains(length) else { return nil }
    }
    return message
  }

  /// The bytes of the shortest message with a hello, and the most of one that is believed to be cut over records.
  private static let shortestHello = 38
  private static let longestHello = 65_536

  /// So many pieces are waited for a header that is begun.
  private static let mostPieces = 64

  /// Whether a side begins with what may become a handshake.
  ///
  /// What a loss follows never becomes one: only the records behind it may still tell.
  func mayBegin(_ pieces: HeldPieces) -> Bool {
    guard pieces.count < Self.mostPieces else { return false }
    return [Side.first, .second].contains { side in
      let held = pieces[side]
      let bytes = held.bytes[held.start]
      return !held.isCut && (1...TLSRecord.headerSize).contains(bytes.count)
        && bytes[0] == TLSRecord.handshake && bytes.dropFirst().first.map { $0 == 3 } ?? true
    }
  }

  /// Judges what has come so far.
  /// - Parameters:
  ///   - pieces: The pieces of both sides in the order of their coming.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: The side that is the client, if it is TLS.
  func client(_ pieces: HeldPieces, isFinal: Bool) -> Side? {
    for side in [Side.first, .second] {
      let held = pieces[side]
      let start = held.bytes.span.bytes.extracting(held.start)
      if let client = client(firstBytes: start, of: side) { return client }
    }
    // In the middle: records where pieces start, of which one alone may be an accident.
    guard !opening.isFromStart || !pieces.isComplete else { return nil }
    let first = run(of: .first, in: pieces)
    let second = run(of: .second, in: pieces)
    let headers = first.headers + second.headers
    guard headers >= 2 || (isFinal && headers == 1 && (first.isExact || second.isExact)) else {
      return nil
    }
    return opening.isFromStart || opening.first.port >= opening.second.port ? .first : .second
  }

  /// The longest run of records that begins where a piece of a side does.
  private func run(of side: Side, in pieces: HeldPieces) -> (headers: Int, isExact: Bool) {
    var best = (headers: 0, isExact: false)
    let held = pieces[side]
    for stretch in held.stretches {
      let bytes = held.bytes.span.bytes.extracting(stretch.range)
      for start in stretch.starts {
        let found = TLSRecord.count(bytes, from: start)
        if found.headers > best.headers { best = found }
      }
    }
    return best
  }
}
