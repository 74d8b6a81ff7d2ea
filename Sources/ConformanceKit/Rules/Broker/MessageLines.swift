/// The order of messages: those of one connection that have one topic and one QoS form a line (section 4.6).
struct MessageLines {
  private struct Line {
    var count: UInt32
    var last: UInt64
  }

  /// How far a client has got in a line.
  struct Reached {
    /// The place of the last message that it got, and its frame; counted in 32 bits to be many in little room.
    var sequence: UInt32
    var frame: UInt32
    /// Which of the 64 places up to it were filled, that one in the lowest bit.
    var seen: UInt64 = 1

    /// Whether the message of a place came already; nil where it is too far back to tell.
    func hasSeen(_ place: UInt32) -> Bool? {
      guard place <= sequence, sequence - place < 64 else { return nil }
      return seen >> UInt64(sequence - place) & 1 == 1
    }

    fileprivate mutating func take(_ place: UInt32, _ frame: Int) {
      if place > sequence {
        let steps = place - sequence
        seen = (steps < 64 ? seen << UInt64(steps) : 0) | 1
        sequence = place
        self.frame = UInt32(clamping: frame)
      } else if sequence - place < 64 {
        seen |= 1 << UInt64(sequence - place)
      }
    }
  }

  private var lines = FlatTable(limit: maximum, empty: Line(count: 0, last: 0))
  private var reached = FlatTable(limit: maximum, empty: Reached(sequence: 0, frame: 0))
  /// The most lines, and the most ways of lines to clients, that are kept.
  private static let maximum = 131_072

  /// What tells a line.
  static func key(_ topic: RawSpan, qos: UInt8, from connection: Int) -> UInt64 {
    ContentHash.of(topic, in: UInt64(truncatingIfNeeded: connection) << 2 | UInt64(qos & 3))
  }

  /// Has a line at hand, to which a message is added soon.
  @inline(__always)
  func prefetch(_ line: UInt64) { lines.prefetch(line) }

  /// Has at hand how far a client got in a line, which is asked for soon.
  @inline(__always)
  func prefetch(_ line: UInt64, to connection: Int) {
    reached.prefetch(Self.way(line, to: connection))
  }

  @inline(__always)
  private static func way(_ line: UInt64, to connection: Int) -> UInt64 {
    line ^ UInt64(truncatingIfNeeded: connection) &* 0xD6E8_FEB8_6659_FD93
  }

  /// Takes another message of a line.
  /// - Returns: Its place from 1 and the message before it; 0 where places are not counted.
  mutating func publish(_ message: UInt64, on line: UInt64) -> (UInt32, UInt64) {
    var result = (UInt32(0), UInt64(0))
    _ = lines.update(line) { value, _ in
      guard value.count < .max else { return }
      value.count += 1
      result = (value.count, value.last)
      value.last = message
    }
    return result
  }

  /// Takes a message that a client gets.
  /// - Returns: What it had got of the line before; nil where that is nothing, or is not kept.
  mutating func reach(
    _ sequence: UInt32, _ frame: Int, of line: UInt64, by connection: Int
  ) -> Reached? {
    var before: Reached?
    _ = reached.update(Self.way(line, to: connection)) { value, isNew in
      if isNew {
        value = Reached(sequence: sequence, frame: UInt32(clamping: frame))
      } else {
        before = value
        value.take(sequence, frame)
      }
    }
    return before
  }
}
