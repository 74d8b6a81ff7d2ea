/// How much is kept, at the most.
struct TCPLimits: Sendable {
  /// Bytes of one direction that wait.
  var pendingBytes = 1 << 20
  /// Segments of one direction that wait.
  var pendingSegments = 4_096
  /// Bytes of all connections together that wait.
  var allPendingBytes = 16 << 20
  /// Segments of a connection after which bytes that were acknowledged and not captured are lost:
  /// neighbours change places by a few, in captures of several queues or merged taps by more.
  var segmentsWaiting = 16
  /// Frames of the capture after which they are lost, too: a connection may be silent for long.
  var framesWaiting = 1_024
  /// Connections that are known at once; beyond it those that are over, of no interest or idle go.
  var flows = 65_536
  /// Frames after its end for which a connection is still known.
  var framesAfterEnd = 50_000

  init() {}

  /// Creates the limits of a capture.
  ///
  /// A connection takes some 1,500 bytes here and in what reads its streams, of which there are three quarters at most.
  /// - Parameter memory: What reading may take, in bytes.
  init(memory: Int) {
    let memory = max(0, memory)
    allPendingBytes = min(allPendingBytes, memory / 8)
    flows = max(1_024, min(flows, memory / 2_000))
  }
}

/// What happened to the segments of a capture.
struct TCPStatistics: Sendable, Hashable {
  /// Segments too far from what was expected to belong to their connection.
  var strayedSegments = 0
  /// FINs and resets near their connection's place, but not where their receiver would believe them.
  var disbelievedEnds = 0
  /// Directions of which an acknowledgement claims more than anything else shows to have been sent.
  var leaps = 0
  var evictedFlows = 0
}
