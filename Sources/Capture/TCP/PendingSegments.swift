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

  /// Those before `head` are gone; they are taken out many at once, as each time all others move.
  private var segments: [Segment] = []
  private var head = 0
  /// The number of bytes kept.
  private(set) var byteCount = 0

  /// What a segment takes besides its bytes.
  private static let overhead = 128

  var first: Segment? { isEmpty ? nil : segments[head] }
  var isEmpty: Bool { head == segments.count }
  /// The place behind the last of them in the stream; nil where none waits.
  var end: Int? { isEmpty ? nil : segments.last?.end }
  var count: Int { segments.count - head }

  /// About the memory that all of them take, in bytes.
  var reserved: Int { byteCount + count * Self.overhead }

  mutating func removeFirst() -> Segment? {
    guard let segment = first else { return nil }
    byteCount -= segment.bytes.count
    segments[head].bytes = []
    head += 1
    if isEmpty {
      segments.removeAll(keepingCapacity: segments.capacity <= 64)
      head = 0
    } else if head >= 64, head * 2 >= segments.count {
      segments.removeSubrange(..<head)
      head = 0
    }
    return segment
  }

  /// Lets the first segment wait for nothing of the other stream any more.
  /// - Parameter isUncertain: Whether its place among the bytes of the other stream is not known.
  mutating func dropDemand(isUncertain: Bool) {
    guard !isEmpty else { return }
    segments[head].demand = .min
    if isUncertain { segments[head].arrival.isOrderUncertain = true }
  }

  /// Notes that the place of the first segment among the bytes of the other stream is not known.
  mutating func doubtFirst() {
    if !isEmpty { segments[head].arrival.isOrderUncertain = true }
  }

  /// Keeps what no earlier segment covers.
  mutating func insert(
    _ bytes: RawSpan, at offset: Int, length: Int, demand: Int, _ arrival: Arrival
  ) {
    // Most of the time it goes to the end.
    if !isEmpty, let last = segments.last, offset < last.end {
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
    var index = place(behind: offset)
    while position < end, index < segments.count {
      let segment = segments[index]
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

  /// The index of the first segment that ends behind an offset.
  private func place(behind offset: Int) -> Int {
    var (lower, upper) = (head, segments.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if segments[middle].end <= offset { lower = middle + 1 } else { upper = middle }
    }
    return lower
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
