import DataClient

/// One direction of a TCP connection: where its bytes stand, what came early, what was acknowledged.
///
/// Offsets count from the first byte of the stream, so that sequence numbers, which wrap around at
/// 2^32, are compared in one place only.
///
/// A direction is an object, so that one of two can be chosen without a copy: whatever reads it reads
/// the one place where it stands. Only the reassembler that made it reaches it, and checks of
/// exclusive access would cost a third of reading.
final class TCPStream {
  /// Sequence number of the byte at ``offset``; nil before the direction was seen.
  @exclusivity(unchecked) private(set) var nextSequence: UInt32?
  /// How many bytes of the stream are delivered or known to be lost.
  @exclusivity(unchecked) private(set) var offset = 0
  /// The stream's end, once a FIN tells it.
  @exclusivity(unchecked) var finOffset: Int?
  /// How far the receiver acknowledged, as far as the capture shows.
  @exclusivity(unchecked) private(set) var acknowledged = 0
  @exclusivity(unchecked) var pending = PendingSegments()

  /// Farther than this from what is expected no segment is believed (RFC 7323 allows windows of 1 GiB).
  private static let farthest = 1 << 30

  /// Whether all bytes up to the FIN are delivered.
  var isFinished: Bool { finOffset.map { offset >= $0 } ?? false }

  /// Whether the start of the stream is only known from what the receiver acknowledged.
  @exclusivity(unchecked) private var isStartAssumed = false

  func start(at sequence: UInt32) {
    nextSequence = sequence
    isStartAssumed = false
  }

  /// Starts the stream with its first captured segment, if its beginning was not captured.
  func startIfNeeded(at sequence: UInt32) {
    guard nextSequence != nil else { return start(at: sequence) }
    // What was sent before the capture began and is still on its way is no gap of the capture.
    if isStartAssumed, let target = offset(of: sequence), target >= offset { start(at: sequence) }
  }

  /// Returns where a sequence number lies in the stream; nil if too far away to belong to it.
  func offset(of sequence: UInt32) -> Int? {
    guard let nextSequence else { return nil }
    let distance = Int(Int32(bitPattern: sequence &- nextSequence))
    guard abs(distance) <= Self.farthest else { return nil }
    return offset + distance
  }

  /// Takes an acknowledgement of the receiver.
  /// - Parameters:
  ///   - sequence: The number of the byte that the receiver expects.
  ///   - isFromStart: Whether the capture has the start of the connection: then the first
  ///     acknowledgement tells where the stream really starts, also if its SYN was not captured.
  func acknowledge(_ sequence: UInt32, isFromStart: Bool) {
    guard nextSequence != nil else {
      start(at: sequence)
      isStartAssumed = !isFromStart
      return
    }
    if let target = offset(of: sequence) { acknowledged = max(acknowledged, target) }
  }

  /// The number of bytes that the receiver acknowledged and nobody captured.
  var acknowledgedUnseen: Int {
    let missing = min(acknowledged, finOffset ?? Int.max) - offset
    // The FIN takes a number of its own: one that is acknowledged but not captured is no byte.
    return finOffset == nil && missing == 1 ? 0 : max(0, missing)
  }

  func advance(by count: Int) {
    offset += count
    if let nextSequence {
      self.nextSequence = nextSequence &+ UInt32(truncatingIfNeeded: count)
    }
  }

  /// Whether bytes that never came stand before segments that did.
  var hasHole: Bool { !pending.isEmpty }

  /// Whether the receiver acknowledged the whole hole in front of the first pending segment: then it
  /// is the capture that lost the bytes, and nothing will fill the hole.
  var isHoleAcknowledged: Bool {
    guard let first = pending.first else { return false }
    return acknowledged >= first.offset
  }
}
