package import RepriseCore

/// Takes frames as they come, and tells at once what they say.
///
/// What a ``CaptureReader`` reads goes the same way: frames, segments, streams, packets, events.
package struct LiveSession {
  private var dissector = FrameDissector()
  private var reassembler: TCPReassembler<SessionTraffic>
  private let emitter: SessionEmitter

  /// Prepares to take frames.
  /// - Parameters:
  ///   - options: What the user says about the traffic; a filter has no effect.
  ///   - take: Takes the events.
  package init(
    _ options: InputOptions = InputOptions(), _ take: @escaping (borrowing EventView) -> Void
  ) {
    emitter = SessionEmitter { take($0) }
    reassembler = TCPReassembler(
      SessionTraffic(decode: options.decode, memory: options.memory, emitter: emitter))
  }

  /// Takes the next frame.
  /// - Parameter frame: The frame; the numbers of frames rise.
  package mutating func take(_ frame: borrowing Frame) {
    dissector.dissect(frame) { reassembler.take($0) }
  }

  /// Ends all connections where they are.
  package mutating func finish() {
    reassembler.finish()
    emitter.finish()
  }
}
