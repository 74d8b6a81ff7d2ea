/// Tells by the times of a handshake beside which of the ends it was captured: who is near answers at once.
struct HandshakeWatch {
  private static let never = Int64.max
  /// The longest that the answer of an end takes beside it, in nanoseconds; away from it, it takes the way there and back.
  private static let prompt: Int64 = 1_000_000

  private var asked = Self.never
  private var answered = Self.never
  private var asker = Side.first
  /// The end beside which it was captured; nil where that can't be told.
  private(set) var nearSide: Side?

  /// Takes a SYN.
  /// - Parameters:
  ///   - side: The side that sent it.
  ///   - isAnswer: Whether it answers that of the other side.
  ///   - time: When it was captured.
  mutating func begin(_ side: Side, isAnswer: Bool, at time: Int64) {
    if isAnswer {
      guard asked != Self.never, side != asker else { return }
      answered = time
    } else {
      (asker, asked, answered) = (side, time, Self.never)
    }
  }

  /// Takes any other segment, of which the first one of the asker ends the handshake.
  @inline(__always)
  mutating func hear(_ side: Side, at time: Int64) {
    if answered != Self.never, side == asker { end(at: time) }
  }

  @inline(never)
  private mutating func end(at time: Int64) {
    let (far, near) = (answered &- asked, time &- answered)
    answered = Self.never
    // The system answers a SYN as soon as it answers a SYN with ACK.
    if near < far / 2, near < Self.prompt {
      nearSide = asker
    } else if far < near / 2, far < Self.prompt {
      nearSide = asker.other
    }
  }
}
