/// The header of a unit that a stream is cut into, such as a control packet or a frame.
public protocol StreamUnitHeader: Sendable {
  /// Why a stream of such units can't be cut any further.
  associatedtype FramingError: Error

  /// The most bytes that a header takes.
  static var largestSize: Int { get }
  /// The size of the header itself in bytes.
  var size: Int { get }
  /// The size of the whole unit in bytes, at least ``size``.
  var unitSize: Int { get }

  /// Reads the header at an offset.
  static func readUnit(_ bytes: RawSpan, at offset: Int) -> StreamUnitReading<Self>

  /// The error for a unit that has no end.
  /// - Parameter offset: Where it starts, in bytes from the start of the stream.
  /// - Returns: The error.
  static func endlessUnit(at offset: Int) -> FramingError
}

/// What stands where a unit should begin.
public enum StreamUnitReading<Header> {
  /// A whole header.
  case header(Header)
  /// The bytes end inside the header.
  case needMore
  /// The header tells no size; it may be whole all the same.
  case unbounded(Header?)
}

/// What a loss of bytes does to a stream that is cut into units.
public enum StreamLoss: Sendable, Hashable {
  /// The lost bytes all belong to the current unit; the next one will be found.
  case insideUnit
  /// So many of the lost bytes lie past the current unit; where the next one starts is unknown.
  case outOfStep(past: Int)
}

/// Cuts one direction of a connection into control packets.
public typealias MQTTFramer = StreamFramer<MQTTFixedHeader>

/// Cuts one direction of a connection into frames, still masked.
public typealias WebSocketFramer = StreamFramer<WebSocketFrameHeader>

/// Cuts one direction of a connection into units, whatever pieces its bytes come in.
///
/// Units that lie whole in a piece are handed out where they lie; only one that spans pieces is
/// copied. No more than ``limit`` bytes of a unit are ever kept: a larger one is handed out with its
/// end missing, as one is whose bytes were lost.
public struct StreamFramer<Header: StreamUnitHeader>: Sendable {
  /// Takes a unit: its bytes, shorter than its size when some were lost or over the limit; its
  /// header; its offset in the stream.
  public typealias Use = (RawSpan, Header, Int) -> Void

  /// The most bytes of one unit that are kept.
  public let limit: Int
  /// Where the current unit starts, in bytes from the start of the stream.
  @inlinable
  public var unitOffset: Int { start }
  /// The same, for this file to change.
  @usableFromInline var start: Int
  /// The kept bytes of the unit that is not complete.
  private var kept: [UInt8] = []
  /// The room that they have.
  private var room = GrownRoom()
  /// The stream's bytes of the current unit so far, kept or not.
  @usableFromInline var passed = 0
  /// Whether bytes of the current unit were lost, so that what follows must not be joined to them.
  private var isBroken = false

  /// So much of a unit that is given up stays, to tell what it was.
  private static var remnant: Int { 256 }

  /// The memory that is taken by kept bytes, or held ready for them, in bytes.
  @inline(__always)
  package var reserved: Int { room.size }

  /// Whether the stream stands between two units.
  @inlinable
  public var isAtBoundary: Bool { passed == 0 }

  /// The header of the unit that is not complete, once all of the header is there: whoever refuses
  /// the unit for it need not wait for the rest.
  public var pendingHeader: Header? {
    guard passed > 0, case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else {
      return nil
    }
    return header
  }

  /// The first byte of the unit that is not complete, which says what it is before its header is whole.
  public var pendingFirstByte: UInt8? { passed > 0 ? kept.first : nil }

  /// Creates a framer.
  /// - Parameters:
  ///   - limit: The most bytes of one unit to keep, 16 MiB if not stated; at least the longest header.
  ///   - offset: The place in the stream where the first unit starts.
  public init(limit: Int = 16 << 20, offset: Int = 0) {
    self.limit = max(Header.largestSize, limit)
    start = offset
  }

  /// Takes the next piece of the stream.
  /// - Parameters:
  ///   - piece: The bytes.
  ///   - use: Called for each unit that the piece completes.
  /// - Throws: The header's error where no unit can be cut: behind a header that is whole but tells
  ///   no size, which is handed out alone before; the rest of the piece is not taken.
  @inlinable
  public mutating func consume(_ piece: RawSpan, _ use: Use) throws(Header.FramingError) {
    var position = 0
    if passed > 0 { position = try finishUnit(piece, use) }
    while position < piece.byteCount {
      switch Header.readUnit(piece, at: position) {
      case .header(let header) where header.unitSize <= piece.byteCount - position:
        let end = position + header.unitSize
        use(piece.extracting(position..<end), header, start)
        start += header.unitSize
        position = end
      case .header, .needMore:
        keep(piece.extracting(position..<piece.byteCount))
        return
      case .unbounded(let header):
        if let header {
          use(piece.extracting(position..<(position + header.size)), header, start)
        }
        throw Header.endlessUnit(at: start)
      }
    }
  }

  /// Tells that bytes of the stream are missing.
  /// - Parameters:
  ///   - count: How many.
  ///   - use: Called for the current unit, if the loss takes the rest of it.
  /// - Returns: Whether the next unit can still be found; if not, ``restart(at:)`` is due.
  public mutating func lose(_ count: Int, _ use: Use) -> StreamLoss {
    guard passed > 0, case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else {
      return .outOfStep(past: count)
    }
    let rest = header.unitSize - passed
    isBroken = true
    passed += min(count, rest)
    if passed == header.unitSize { finish(header, use) }
    return count <= rest ? .insideUnit : .outOfStep(past: count - rest)
  }

  /// Forgets the current unit and starts with a new one.
  /// - Parameter offset: The place in the stream where it starts.
  public mutating func restart(at offset: Int) {
    reset()
    start = offset
  }

  /// Gives memory back: all but the first bytes of the unit that is begun are forgotten, and it is
  /// handed out with its end missing.
  /// - Returns: How many bytes that were kept are missing from it now; 0 when none are.
  package mutating func giveUp() -> Int {
    let count = kept.count - min(kept.count, Self.remnant)
    kept = Array(kept.prefix(Self.remnant))
    room = GrownRoom()
    room.hold(kept.count)
    if count > 0 { isBroken = true }
    return count
  }

  /// Hands out the bytes of the unit that the stream's end cut, if its header is whole.
  /// - Parameter use: Called with the kept bytes, the header, and the offset in the stream.
  public mutating func flush(_ use: Use) {
    guard case .header(let header) = Header.readUnit(kept.span.bytes, at: 0) else { return reset() }
    finish(header, use)
  }

  /// Takes bytes for the unit that is begun, and returns how many of the piece it took.
  @usableFromInline
  mutating func finishUnit(_ piece: RawSpan, _ use: Use) throws(Header.FramingError) -> Int {
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
        if let header { use(kept.span.bytes.extracting(first: header.size), header, start) }
        throw Header.endlessUnit(at: start)
      }
    }
  }

  @usableFromInline
  mutating func keep(_ bytes: RawSpan) {
    passed += bytes.byteCount
    guard !isBroken else { return }
    let count = min(bytes.byteCount, limit - kept.count)
    bytes.extracting(first: count).withUnsafeBytes { kept.append(contentsOf: $0) }
    room.hold(kept.count)
    if count < bytes.byteCount { isBroken = true }
  }

  private mutating func finish(_ header: Header, _ use: Use) {
    use(kept.span.bytes, header, start)
    // A header may promise more than any stream has; where such a unit is flushed, nothing follows.
    let (next, isBehindAll) = start.addingReportingOverflow(header.unitSize)
    start = isBehindAll ? Int.max : next
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
