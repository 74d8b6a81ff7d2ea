/// What a client sends before the handshake is done (RFC 8446 section 2.3), until it is known whether the server takes it.
struct TLSEarlyData {
  /// So much is kept; a server allows what it can keep as well, usually 16 KiB.
  private static let most = 1 << 20

  struct Piece {
    let bytes: [UInt8]
    let arrival: Arrival
  }

  private(set) var pieces: [Piece] = []
  private(set) var reserved = 0
  /// How many bytes could not be decrypted or kept.
  var lost = 0
  /// Whether the server takes it; nil while that is not known.
  var isAccepted: Bool?

  /// Keeps what was decrypted.
  mutating func append(_ bytes: [UInt8], _ arrival: Arrival) {
    guard reserved + bytes.count <= Self.most else {
      lost += bytes.count
      return
    }
    reserved += bytes.count
    pieces.append(Piece(bytes: bytes, arrival: arrival))
  }

  /// Gives out what was kept.
  mutating func takeAll() -> [Piece] {
    defer {
      pieces = []
      reserved = 0
    }
    return pieces
  }
}
