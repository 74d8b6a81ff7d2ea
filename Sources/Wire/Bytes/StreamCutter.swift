/// The header of a unit that a stream is cut into, such as a control packet or a frame.
protocol StreamUnitHeader {
  /// The most bytes that a header takes.
  static var largestSize: Int { get }
  /// The size of the header itself in bytes.
  var size: Int { get }
  /// The size of the whole unit in bytes, at least ``size``.
  var unitSize: Int { get }

  /// Reads the header at an offset.
  static func readUnit(_ bytes: RawSpan, at offset: Int) -> StreamUnitReading<Self>
}

/// What stands where a unit should begin.
enum StreamUnitReading<Header> {
  case header(Header)
  /// The bytes end inside the header.
  case needMore
  /// The header tells no size; it may be whole all the same.
  case unbounded(Header?)
}

/// Why a stream can't be cut any further.
struct StreamCutterError: Error {
  /// Where the unit starts that has no end.
  var offset: Int
}

/// Cuts one direction of a connection into units, whatever pieces its bytes come in.
///
/// Units that lie whole in a piece are handed out where they lie; only one that spans pieces is
/// copied. No more than ``limit`` bytes of a unit are ever kept: a larger one is handed out with its
/// end missing, as one is whose bytes were lost.
struct StreamCutter<Header: StreamUnitHeader & Sendable>: Sendable {
  typealias Use = (RawSpan, Header, Int) -> Void

  /// The most bytes of one unit that are kept.
  let limit: Int
  /// Where the current unit starts, in bytes from the start of the stream.
  private(set) var unitOffset: Int
  /// The kept bytes of the unit that is not complete.
  private var kept: [UInt8] = []
  /// The room that they have.
  private var room = GrownRoom()
  /// The stream's bytes of the current unit so far, kept or not.
  private(set) var passed = 0
  /// Whether bytes of the current unit were lost, so that what follows must not be joined to them.
  private var isBroken = false

  /// So much of a unit that is given up stays, to tell what it was.
  private static var remnant: Int { 256 }

  /// The memory that is taken by kept bytes, or held ready for them, in bytes.
  @inline(__always)
  var reserved: Int { room.size }

  /// The header of the unit that is begun, once all of it is there.
  var pendingHeader: Header? {
    guard passed > 0, case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else {
      return nil
    }
    return header
  }

  /// The first byte of the unit that is begun.
  var pendingFirstByte: UInt8? { passed > 0 ? kept.first : nil }

  init(limit: Int, offset: Int) {
    self.limit = max(Header.largestSize, limit)
    unitOffset = offset
  }

  /// Takes the next piece of the stream.
  ///
  /// A header that is whole but tells no size is handed out alone before the error is thrown; the
  /// rest of the piece is not taken then.
  @inline(__always)
  mutating func consume(_ piece: RawSpan, _ use: Use) throws(StreamCutterError) {
    var position = 0
    if passed > 0 { position = try finishUnit(piece, use) }
    while position < piece.byteCount {
      switch Header.readUnit(piece, at: position) {
      case .header(let header) where header.unitSize <= piece.byteCount - position:
        let end = position + header.unitSize
        use(piece.extracting(position..<end), header, unitOffset)
        unitOffset += header.unitSize
        position = end
      case .header, .needMore:
        keep(piece.extracting(position..<piece.byteCount))
        return
      case .unbounded(let header):
        if let header {
          use(piece.extracting(position..<(position + header.size)), header, unitOffset)
        }
        throw StreamCutterError(offset: unitOffset)
      }
    }
  }

  /// Tells that bytes of the stream are missing.
  /// - Returns: How many of them lie past the current unit; nil when none does.
  mutating func lose(_ count: Int, _ use: Use) -> Int? {
    guard passed > 0, case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else {
      return count
    }
    let rest = header.unitSize - passed
    isBroken = true
    passed += min(count, rest)
    if passed == header.unitSize { finish(header, use) }
    return count <= rest ? nil : count - rest
  }

  /// Forgets the current unit and starts with a new one.
  mutating func restart(at offset: Int) {
    reset()
    unitOffset = offset
  }

  /// Gives memory back: all but the first bytes of the unit that is begun are forgotten, and it is
  /// handed out with its end missing.
  /// - Returns: How many bytes that were kept are missing from it now; 0 when none are.
  mutating func giveUp() -> Int {
    let count = kept.count - min(kept.count, Self.remnant)
    kept = Array(kept.prefix(Self.remnant))
    room = GrownRoom()
    room.hold(kept.count)
    if count > 0 { isBroken = true }
    return count
  }

  /// Hands out the bytes of the unit that the stream's end cut, if its header is whole.
  mutating func flush(_ use: Use) {
    guard case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else { return reset() }
    finish(header, use)
  }

  /// Takes bytes for the unit that is begun, and returns how many of the piece it took.
  private mutating func finishUnit(_ piece: RawSpan, _ use: Use) throws(StreamCutterError) -> Int {
    var position = 0
    while true {
      switch Header.readUnit(kept.span.bytes, at: 0) {
      case .header(let header):
        let count = min(header.unitSize - passed, piece.byteCount - position)
        keep(piece.extracting(position..<(position + count)))
        if passed == header.unitSize { finish(header, use) }
        return position + count
      case .needMore:
        guard position < piece.byteCount else { return position }
        keep(piece.extracting(position..<(position + 1)))
        position += 1
      case .unbounded(let header):
        if let header { use(kept.span.bytes.extracting(first: header.size), header, unitOffset) }
        throw StreamCutterError(offset: unitOffset)
      }
    }
  }

  private mutating func keep(_ bytes: RawSpan) {
    passed += bytes.byteCount
    guard !isBroken else { return }
    let count = min(bytes.byteCount, limit - kept.count)
    bytes.extracting(first: count).withUnsafeBytes { kept.append(contentsOf: $0) }
    room.hold(kept.count)
    if count < bytes.byteCount { isBroken = true }
  }

  private mutating func finish(_ header: Header, _ use: Use) {
    use(kept.span.bytes, header, unitOffset)
    // A header may promise more than any stream has; where such a unit is flushed, nothing follows.
    let (next, isBehindAll) = unitOffset.addingReportingOverflow(header.unitSize)
    unitOffset = isBehindAll ? Int.max : next
    reset()
  }

  private mutating func reset() {
    passed = 0
    isBroken = false
    // A large unit's memory is given back; a small buffer is worth keeping for the next one.
    let isSmall = room.size <= 4_096
    kept.removeAll(keepingCapacity: isSmall)
    if !isSmall { room = GrownRoom() }
  }
}
