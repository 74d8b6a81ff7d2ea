/// Cuts one direction of a connection into frames, whatever pieces its bytes come in.
///
/// Frames that lie whole in a piece are handed out where they lie, still masked; only a frame that
/// spans pieces is copied. No more than ``limit`` bytes of a frame are ever kept: a larger one is
/// handed out with its end missing, as one is whose bytes were lost.
public struct WebSocketFramer: Sendable {
  private var cutter: StreamCutter<WebSocketFrameHeader>

  /// Creates a framer.
  /// - Parameters:
  ///   - limit: The most bytes of one frame to keep, 16 MiB if not stated; at least 14.
  ///   - offset: The place in the stream where the first frame starts.
  public init(limit: Int = 16 << 20, offset: Int = 0) {
    cutter = StreamCutter(limit: limit, offset: offset)
  }

  /// The most bytes of one frame that are kept.
  public var limit: Int { cutter.limit }

  /// Where the current frame starts, in bytes from the start of the stream.
  public var frameOffset: Int { cutter.unitOffset }

  /// Whether the stream stands between two frames.
  public var isAtBoundary: Bool { cutter.passed == 0 }

  /// The header of the frame that is not complete, once all of the header is there: whoever refuses
  /// the frame for it need not wait for the payload.
  public var pendingHeader: WebSocketFrameHeader? { cutter.pendingHeader }

  /// The first byte of the frame that is not complete, which says what it is before its header is whole.
  public var pendingFirstByte: UInt8? { cutter.pendingFirstByte }

  /// What a loss of bytes does to the stream.
  public enum Loss: Sendable, Hashable {
    /// The lost bytes all belong to the current frame; the next one will be found.
    case insideFrame
    /// So many of the lost bytes lie past the current frame; where the next one starts is unknown.
    case outOfStep(past: Int)
  }

  /// Takes the next piece of the stream.
  /// - Parameters:
  ///   - piece: The bytes.
  ///   - frame: Called for each frame that the piece completes: its bytes, shorter than its size when
  ///     some were lost or over the limit; its header; its offset in the stream.
  /// - Throws: ``WebSocketFramingError`` behind a frame whose length can't be; of that frame only the
  ///   header is handed out, and the rest of the piece is not taken.
  public mutating func consume(
    _ piece: RawSpan, _ frame: (RawSpan, WebSocketFrameHeader, Int) -> Void
  ) throws(WebSocketFramingError) {
    do throws(StreamCutterError) {
      try cutter.consume(piece, frame)
    } catch {
      throw WebSocketFramingError(.impossibleLength, at: error.offset)
    }
  }

  /// Tells the framer that bytes of the stream are missing.
  /// - Parameters:
  ///   - count: How many.
  ///   - frame: Called for the current frame, if the loss takes the rest of it.
  /// - Returns: Whether the next frame can still be found; if not, ``restart(at:)`` is due.
  public mutating func lose(
    _ count: Int, _ frame: (RawSpan, WebSocketFrameHeader, Int) -> Void
  ) -> Loss {
    cutter.lose(count, frame).map { .outOfStep(past: $0) } ?? .insideFrame
  }

  /// Forgets the current frame and starts with a new one.
  /// - Parameter offset: The place in the stream where it starts.
  public mutating func restart(at offset: Int) { cutter.restart(at: offset) }

  /// The memory that is taken by kept bytes, or held ready for them, in bytes.
  @inline(__always)
  package var reserved: Int { cutter.reserved }

  /// Gives memory back: all but the first bytes of the frame that is begun are forgotten, and it is
  /// handed out with its end missing.
  /// - Returns: How many bytes that were kept are missing from it now; 0 when none are.
  package mutating func giveUp() -> Int { cutter.giveUp() }

  /// Hands out the bytes of the frame that the stream's end cut, if its header is whole.
  /// - Parameter frame: Called with the kept bytes, the header, and the offset in the stream.
  public mutating func flush(_ frame: (RawSpan, WebSocketFrameHeader, Int) -> Void) {
    cutter.flush(frame)
  }
}

/// Why a stream of bytes can't be cut into frames any further.
public struct WebSocketFramingError: Error, Sendable, Hashable {
  /// What is wrong.
  public let code: Code
  /// Where the frame starts that can't be cut, in bytes from the start of the stream.
  public let offset: Int

  /// Creates an error.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  /// The ways in which cutting fails.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The payload length has its highest bit set (RFC 6455 section 5.2), or the frame ends behind
    /// every stream.
    case impossibleLength = "impossible-frame-length"
    /// Bytes that are no frame, where one should begin.
    case notWebSocket = "not-websocket"

    /// One sentence for a reader.
    public var message: String {
      switch self {
      case .impossibleLength: "the frame's length is more than a frame can have"
      case .notWebSocket: "no frame starts here"
      }
    }
  }
}
