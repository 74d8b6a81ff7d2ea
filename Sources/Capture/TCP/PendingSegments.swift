/// Segments that wait for the bytes in front of them, or for those that they acknowledge, in order and
/// without overlap.
///
/// Where segments overlap, the bytes that came first win: that is what most receivers kept.
struct PendingSegments {
  struct Segment {
    /// Place in the stream, in bytes from its start.
    var offset: Int
    /// The length on the wire; more than the bytes when a snaplen cut them.
    var length: Int
    var bytes: [UInt8]
    var arrival: Arrival
    /// The place in the other stream up to which its sender had received it; `Int.min` if it says none.
    var demand: Int

    var end: Int { offset + length }
  }

  private var segments: [Segment] = []
  /// The number of bytes kept.
  private(set) var byteCount = 0

  var first: Segment? { segments.first }
  var isEmpty: Bool { segments.isEmpty }
  var count: Int { segments.count }

  mutating func removeFirst() -> Segment? {
    guard !segments.isEmpty else { return nil }
    let segment = segments.removeFirst()
    byteCount -= segment.bytes.count
    return segment
  }

  /// Lets the first segment wait for nothing of the other stream any more.
  /// - Parameter isUncertain: Whether its place among the bytes of the other stream is not known.
  mutating func dropDemand(isUncertain: Bool) {
    guard !segments.isEmpty else { return }
    segments[0].demand = .min
    if isUncertain { segments[0].arrival.isOrderUncertain = true }
  }

  /// Notes that the place of the first segment among the bytes of the other stream is not known.
  mutating func doubtFirst() {
    if !segments.isEmpty { segments[0].arrival.isOrderUncertain = true }
  }

  /// Keeps what no earlier segment covers.
  mutating func insert(
    _ bytes: RawSpan, at offset: Int, length: Int, demand: Int, _ arrival: Arrival
  ) {
    // Most of the time it goes to the end.
    if let last = segments.last, offset < last.end {
      insertAround(bytes, at: offset, length: length, demand, arrival)
    } else {
      add(bytes, at: offset, offset..<(offset + length), index: segments.count, demand, arrival)
    }
  }

  private mutating func insertAround(
    _ bytes: RawSpan, at offset: Int, length: Int, _ demand: Int, _ arrival: Arrival
  ) {
    let end = offset + length
    var position = offset
    var index = 0
    while position < end, index < segments.count {
      let segment = segments[index]
      if segment.end <= position {
        index += 1
        continue
      }
      if segment.offset > position {
        let to = min(end, segment.offset)
        add(bytes, at: offset, position..<to, index: index, demand, arrival)
        index += 1
      }
      // Of two copies the one that acknowledges less was sent first.
      if offset <= segment.offset, end >= segment.end {
        segments[index].demand = min(segments[index].demand, demand)
      }
      position = max(position, segment.end)
      index += 1
    }
    if position < end {
      add(bytes, at: offset, position..<end, index: segments.count, demand, arrival)
    }
  }

  /// Adds a part of a segment whose captured bytes start at `offset`.
  private mutating func add(
    _ bytes: RawSpan, at offset: Int, _ part: Range<Int>, index: Int, _ demand: Int,
    _ arrival: Arrival
  ) {
    let lower = min(part.lowerBound - offset, bytes.byteCount)
    let upper = min(part.upperBound - offset, bytes.byteCount)
    let kept = bytes.extracting(lower..<upper).withUnsafeBytes { Array($0) }
    byteCount += kept.count
    segments.insert(
      Segment(
        offset: part.lowerBound, length: part.count, bytes: kept, arrival: arrival, demand: demand),
      at: index)
  }
}
