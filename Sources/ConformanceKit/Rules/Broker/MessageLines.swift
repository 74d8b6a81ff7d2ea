internal import RepriseCore
internal import Wire

/// The order of messages: those of one connection that have one topic and one QoS form a line (section 4.6).
struct MessageLines {
  private struct Line {
    var count: Int
    var last: UInt64
  }

  /// How far a client has got in a line.
  struct Reached {
    /// The place of the last message that it got, and how often that came.
    var sequence: Int
    var frame: Int
  }

  private var lines: [UInt64: Line] = [:]
  private var reached: [UInt64: Reached] = [:]
  /// The most lines, and the most ways of lines to clients, that are kept.
  private static let maximum = 131_072

  /// The memory that they take, in bytes.
  var reserved: Int { lines.capacity * 26 + reached.capacity * 26 }

  /// What tells a line.
  static func key(_ topic: RawSpan, qos: UInt8, from connection: Int) -> UInt64 {
    ContentHash.of(topic, in: UInt64(truncatingIfNeeded: connection) << 2 | UInt64(qos & 3))
  }

  /// Takes another message of a line.
  /// - Returns: Its place from 1 and the message before it; 0 where places are not counted.
  mutating func publish(_ message: UInt64, on line: UInt64) -> (Int, UInt64) {
    guard let known = lines[line] else {
      guard lines.count < Self.maximum else { return (0, 0) }
      lines[line] = Line(count: 1, last: message)
      return (1, 0)
    }
    lines[line] = Line(count: known.count + 1, last: message)
    return (known.count + 1, known.last)
  }

  /// Takes a message that a client gets.
  /// - Returns: What it had got of the line before; nil where that is nothing, or is not kept.
  mutating func reach(
    _ sequence: Int, _ frame: Int, of line: UInt64, by connection: Int
  ) -> Reached? {
    let key = line ^ UInt64(truncatingIfNeeded: connection) &* 0xD6E8_FEB8_6659_FD93
    let before = reached[key]
    guard before != nil || reached.count < Self.maximum else { return nil }
    if sequence > before?.sequence ?? 0 {
      reached[key] = Reached(sequence: sequence, frame: frame)
    }
    return before
  }
}
