/// Takes the body of a message out of its framing, whatever pieces its bytes come in (RFC 9112 sections 6 and 7).
///
/// Of a body that is longer than the limit the start is kept; the rest is counted.
package struct HTTPBodyReader: Sendable {
  /// What a piece brought.
  package enum Reading: Sendable, Hashable {
    /// The body goes on in the next piece.
    case needMore
    /// The body ends in this piece, behind so many of its bytes.
    case complete(used: Int)
    /// The byte of this piece at this place is none of a chunked body; the reader is of no use any more.
    case malformed(at: Int)
  }

  private enum State {
    case data(Int)
    case untilClose
    /// The line with the size of a chunk, of which so many bytes came.
    case size(value: Int, digits: Int, line: Int, isOver: Bool)
    case chunk(Int)
    case chunkEnd
    /// The lines behind the last chunk: how long the current one is, and all of them.
    case trailer(line: Int, all: Int)
    case complete
  }

  /// The most bytes of a line with a chunk's size, and of all lines behind the last chunk.
  private static let longestLine = 4_096
  private static let longestTrailer = 64 << 10
  /// A size with more digits is not one of this world.
  private static let mostDigits = 13

  /// What is kept of the body.
  package private(set) var body: [UInt8] = []
  private var bodyRoom = GrownRoom()
  /// How many bytes of the body are not kept: lost, or beyond the limit.
  package private(set) var missing = 0
  /// How many of these were there, but beyond the limit.
  package private(set) var cut = 0
  private let limit: Int
  private var state: State

  /// Creates a reader at the start of a body.
  /// - Parameters:
  ///   - framing: How its end is known; contradictory is as good as no body.
  ///   - limit: The most bytes that are kept.
  package init(_ framing: HTTPFraming, limit: Int) {
    self.limit = limit
    state =
      switch framing {
      case .length(let count): count > 0 ? .data(count) : .complete
      case .chunked: .size(value: 0, digits: 0, line: 0, isOver: false)
      case .untilClose: .untilClose
      case .contradictory: .complete
      }
  }

  /// Whether all of the body came.
  package var isComplete: Bool { if case .complete = state { true } else { false } }

  /// Whether the end of the connection is the end of the body.
  package var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

  /// How many bytes of the body are known to be still to come; nil where nobody knows.
  package var rest: Int? { if case .data(let count) = state { count } else { nil } }

  /// The memory that the body takes, in bytes.
  package var reserved: Int { bodyRoom.size }

  /// Takes the next piece of the stream.
  package mutating func consume(_ piece: RawSpan) -> Reading {
    var index = 0
    while true {
      switch state {
      case .complete: return .complete(used: index)
      case _ where index == piece.byteCount: return .needMore
      case .untilClose:
        keep(piece.extracting(droppingFirst: index))
        return .needMore
      case .data(let rest):
        let count = keep(piece, from: index, atMost: rest)
        index += count
        state = count == rest ? .complete : .data(rest - count)
      case .chunk(let rest):
        let count = keep(piece, from: index, atMost: rest)
        index += count
        state = count == rest ? .chunkEnd : .chunk(rest - count)
      case .size, .chunkEnd, .trailer:
        guard takeByte(piece.byte(at: index)) else { return .malformed(at: index) }
        index += 1
      }
    }
  }

  private mutating func keep(_ piece: RawSpan, from index: Int, atMost rest: Int) -> Int {
    let count = min(rest, piece.byteCount - index)
    keep(piece.extracting(index..<(index + count)))
    return count
  }

  private mutating func keep(_ bytes: RawSpan) {
    let room = max(0, limit - body.count)
    // Behind what is not there nothing is kept: it would stand in its place.
    let kept = missing == 0 ? min(room, bytes.byteCount) : 0
    body.append(copying: bytes.extracting(first: kept))
    bodyRoom.hold(body.count)
    // What is beyond the limit, and not only behind a loss.
    if missing == cut { cut += bytes.byteCount - kept }
    missing += bytes.byteCount - kept
  }

  /// Takes a byte of what frames chunks; false when it can't stand there.
  private mutating func takeByte(_ byte: UInt8) -> Bool {
    switch state {
    case .size(let value, let digits, let line, let isOver):
      guard line < Self.longestLine else { return false }
      if byte == 0x0A {
        guard digits > 0 else { return false }
        state = value > 0 ? .chunk(value) : .trailer(line: 0, all: 0)
        return true
      }
      let digit = isOver ? nil : Character(Unicode.Scalar(byte)).hexDigitValue
      if let digit, byte < 0x80 {
        guard digits < Self.mostDigits else { return false }
        state = .size(value: value << 4 | digit, digits: digits + 1, line: line + 1, isOver: false)
        return true
      }
      // Behind the size stand extensions, which mean nothing here.
      let mayFollow = isOver || byte == 0x0D || byte == 0x20 || byte == 0x09 || byte == 0x3B
      guard digits > 0, mayFollow else { return false }
      state = .size(value: value, digits: digits, line: line + 1, isOver: true)
      return true
    case .chunkEnd:
      if byte == 0x0A { state = .size(value: 0, digits: 0, line: 0, isOver: false) }
      return byte == 0x0D || byte == 0x0A
    case .trailer(let line, let all):
      guard all < Self.longestTrailer else { return false }
      if byte == 0x0A {
        state = line == 0 ? .complete : .trailer(line: 0, all: all + 1)
      } else {
        state = .trailer(line: byte == 0x0D ? line : line + 1, all: all + 1)
      }
      return true
    case .data, .untilClose, .chunk, .complete: return true
    }
  }

  // MARK: Losses

  /// Takes the loss of the next bytes of the stream.
  /// - Parameter count: How many there were.
  /// - Returns: How many of them were behind the body; nil where nobody can say where the body goes on or ends.
  package mutating func lose(_ count: Int) -> Int? {
    switch state {
    case .complete: return count
    case .untilClose:
      missing += count
      return 0
    case .data(let rest):
      missing += min(rest, count)
      state = count < rest ? .data(rest - count) : .complete
      return max(0, count - rest)
    case .chunk(let rest) where count <= rest:
      missing += count
      state = count == rest ? .chunkEnd : .chunk(rest - count)
      return 0
    case .size, .chunk, .chunkEnd, .trailer:
      missing += max(1, count)
      state = .complete
      return nil
    }
  }

  /// Ends the body where its connection ends.
  package mutating func end() { state = .complete }

  /// Ends the body where it is: of what should follow as much is missing as is known, but something.
  package mutating func breakOff() {
    if !isComplete { missing += max(1, rest ?? 1) }
    state = .complete
  }

  /// Gives back what is kept, and keeps nothing that follows.
  /// - Returns: How many bytes that were.
  package mutating func giveUp() -> Int {
    let count = body.count
    body = []
    bodyRoom = GrownRoom()
    missing += count
    return count
  }
}
