package import RepriseCore

/// What a proxy does on purpose to what passes: for tests of what its ends make of it.
package struct ProxyFaults: Sendable, Hashable {
  /// What is done to one direction of each connection.
  package struct Direction: Sendable, Hashable {
    /// How long bytes are held before they are passed on, in nanoseconds.
    package var delay: Int64 = 0
    /// Behind how many bytes the connection is broken off; nil for never.
    package var limit: Int?
    /// The most bytes that are written at once.
    package var pieceSize = Int.max
    /// The places of the bytes all of whose bits are turned over, from 1.
    package var corrupted: Set<Int> = []

    /// Creates what leaves everything as it is.
    package init() {}
  }

  private var fromClient = Direction()
  private var fromServer = Direction()

  /// Creates what leaves everything as it is.
  package init() {}

  /// What is done to what an end sends.
  package subscript(sender: Peer) -> Direction {
    get { sender == .client ? fromClient : fromServer }
    set { if sender == .client { fromClient = newValue } else { fromServer = newValue } }
  }
}

/// What one end sends, with what is done to it.
struct FaultyStream {
  private let faults: ProxyFaults.Direction
  /// How many bytes there were.
  private var count = 0

  init(_ faults: ProxyFaults.Direction) { self.faults = faults }

  /// Changes what comes next.
  /// - Parameters:
  ///   - buffer: What it begins with.
  ///   - length: How many bytes it is.
  /// - Returns: How many of them pass, and whether the connection is broken off behind them.
  mutating func spoil(_ buffer: inout [UInt8], _ length: Int) -> (passed: Int, breaks: Bool) {
    defer { count &+= length }
    for place in faults.corrupted {
      let index = place &- 1 &- count
      if index >= 0, index < length { buffer[index] = ~buffer[index] }
    }
    guard let limit = faults.limit, count &+ length >= limit else { return (length, false) }
    return (max(0, limit &- count), true)
  }
}

/// Bytes that are held for a while before they are passed on.
struct HeldBytes {
  /// What is held together.
  struct Piece {
    /// When it is passed on.
    let due: Timestamp
    let bytes: [UInt8]
    /// Whether the connection is broken off behind it.
    let breaks: Bool
  }

  private var pieces: [Piece] = []
  private(set) var count = 0

  var isEmpty: Bool { pieces.isEmpty }

  /// When the first piece is passed on.
  var due: Timestamp? { pieces.first?.due }

  mutating func append(_ piece: Piece) {
    pieces.append(piece)
    count += piece.bytes.count
  }

  /// Takes the first piece, if its time has come.
  mutating func next(_ now: Timestamp) -> Piece? {
    guard let first = pieces.first, first.due <= now else { return nil }
    pieces.removeFirst()
    count -= first.bytes.count
    return first
  }
}
