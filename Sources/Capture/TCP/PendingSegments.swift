/// Segments that came before the bytes in front of them, in order and without overlap.
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

  /// Keeps what no earlier segment covers.
  mutating func insert(_ bytes: RawSpan, at offset: Int, length: Int, _ arrival: Arrival) {
    // Most of the time it goes to the end.
    if let last = segments.last, offset < last.end {
      insertAround(bytes, at: offset, length: length, arrival)
    } else {
      add(bytes, at: offset, from: offset, to: offset + length, index: segments.count, arrival)
    }
  }

  private mutating func insertAround(
    _ bytes: RawSpan, at offset: Int, length: Int, _ arrival: Arrival
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
        add(bytes, at: offset, from: position, to: to, index: index, arrival)
        index += 1
      }
      position = max(position, segment.end)
      index += 1
    }
    if position < end {
      add(bytes, at: offset, from: position, to: end, index: segments.count, arrival)
    }
  }

  /// Adds the part `from..<to` of a segment whose captured bytes start at `offset`.
  private mutating func add(
    _ bytes: RawSpan, at offset: Int, from: Int, to: Int, index: Int, _ arrival: Arrival
  ) {
    let lower = min(from - offset, bytes.byteCount)
    let upper = min(to - offset, bytes.byteCount)
    let part = bytes.extracting(lower..<upper).withUnsafeBytes { Array($0) }
    byteCount += part.count
    segments.insert(
      Segment(offset: from, length: to - from, bytes: part, arrival: arrival), at: index)
  }
}
