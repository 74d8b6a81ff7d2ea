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

  /// Whether what passes comes later than it would.
  package var delays: Bool { fromClient.delay > 0 || fromServer.delay > 0 }

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
  /// - Returns: What became of it.
  mutating func spoil(_ buffer: inout [UInt8], _ length: Int) -> Outcome {
    defer { count &+= length }
    var outcome = Outcome(passed: length, breaks: false)
    if let limit = faults.limit, count &+ length >= limit {
      outcome = Outcome(passed: max(0, limit &- count), breaks: true)
    }
    for place in faults.corrupted.sorted() {
      let index = place &- 1 &- count
      guard index >= 0, index < outcome.passed else { continue }
      outcome.corrupted.append(place)
      buffer[index] = ~buffer[index]
    }
    return outcome
  }

  /// What became of bytes.
  struct Outcome {
    /// How many of them pass.
    var passed: Int
    /// Whether the connection is broken off behind them.
    var breaks: Bool
    /// The places of the bytes that were turned over, from 1.
    var corrupted: [Int] = []

    /// Says for the capture what was done to what an end sent.
    /// - Parameter sender: The end.
    /// - Returns: It in a sentence; nil where all bytes pass as they came.
    func comment(_ sender: Peer) -> String? {
      guard !corrupted.isEmpty else { return nil }
      let places = corrupted.map(String.init).joined(separator: ", ")
      return "--fault \(sender.rawValue).corrupt: the bits of byte \(places) are turned over"
    }
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
