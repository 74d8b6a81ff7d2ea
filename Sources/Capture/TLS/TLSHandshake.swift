import RepriseCore
import Wire

/// Watches the beginning of a connection that speaks TLS, until both hellos are read.
struct TLSHandshake {
  /// What is kept of a side's first records.
  private struct Start {
    var bytes: [UInt8] = []
    var pieces = 0
    var isOver = false
  }

  /// So much of a side is kept for its hello, in so many pieces.
  private static let mostBytes = 20 << 10
  private static let mostPieces = 64

  private(set) var hellos: [TLSHello] = []
  private var first = Start()
  private var second = Start()

  /// Whether nothing more is to be learnt.
  var isOver: Bool { first.isOver && second.isOver }

  /// Takes the next bytes of a side.
  mutating func take(_ bytes: RawSpan, _ side: Side) {
    let hello = side == .first ? Self.read(bytes, &first) : Self.read(bytes, &second)
    if let hello { hellos.append(hello) }
  }

  /// Takes the loss of bytes of a side: what follows can't be put together.
  mutating func lose(_ side: Side) {
    if side == .first { first = Start(isOver: true) } else { second = Start(isOver: true) }
  }

  /// The memory that hellos take that are not whole yet, in bytes.
  var reserved: Int { first.bytes.count + second.bytes.count }

  private static func read(_ bytes: RawSpan, _ start: inout Start) -> TLSHello? {
    guard !start.isOver else { return nil }
    let room = min(mostBytes - start.bytes.count, bytes.byteCount)
    start.bytes += Array(copying: bytes.extracting(first: room))
    start.pieces += 1
    switch hello(start.bytes) {
    case .hello(let hello):
      start = Start(isOver: true)
      return hello
    case .nothing: start = Start(isOver: true)
    case .needMore:
      if start.bytes.count >= mostBytes || start.pieces >= mostPieces {
        start = Start(isOver: true)
      }
    }
    return nil
  }

  private enum Reading {
    case needMore, nothing
    case hello(TLSHello)
  }

  /// Reads the first handshake message of a stream, be it cut over records.
  private static func hello(_ stream: [UInt8]) -> Reading {
    var message: [UInt8] = []
    var place = 0
    while stream.count - place >= TLSRecord.headerSize {
      guard let record = TLSRecord(stream.span.bytes, at: place),
        record.type == TLSRecord.handshake
      else { return .nothing }
      place += TLSRecord.headerSize
      message += stream[place..<min(stream.count, place + record.length)]
      place += record.length
      guard message.count >= 4 else { continue }
      guard message[0] == 1 || message[0] == 2 else { return .nothing }
      let length = message[1..<4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= mostBytes else { return .nothing }
      guard message.count >= 4 + length else { continue }
      let body = message[4..<(4 + length)]
      guard let hello = TLSHello(body, isFromClient: message[0] == 1) else { return .nothing }
      return .hello(hello)
    }
    return .needMore
  }
}
