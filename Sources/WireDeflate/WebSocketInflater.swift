internal import CZlib

/// The one owner of a zlib stream that inflates the messages of one sender (RFC 7692 section 7.2.2).
///
/// A protocol with it as the only conformer would hide nothing: what can do without zlib does without this module.
package struct WebSocketInflater: ~Copyable {
  /// What inflating a piece of a message came to.
  package enum Outcome: Equatable {
    case inflated
    /// The bytes are no DEFLATE, or refer to bytes before the first that were seen.
    case damaged
    /// There would be more than the limit.
    case tooLarge
  }

  /// What zlib takes for a stream with the largest window, in bytes, with what the allocator adds.
  static var memory: Int { 44 << 10 }

  // zlib keeps a pointer from its state back to this structure, so that it must not move.
  private let stream: UnsafeMutablePointer<z_stream>

  /// Creates an inflater; nil when zlib can't allocate its window.
  ///
  /// The window has its largest size: it reads everything that a sender with a smaller one writes,
  /// and zlib itself writes with 512 bytes where 256 were agreed on.
  package init?() {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = inflateInit2_(
      stream, -MAX_WBITS, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      return nil
    }
    self.stream = stream
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Forgets what was inflated so far.
  mutating func reset() { inflateReset(stream) }

  /// Inflates a piece of a message and appends what comes out.
  /// - Parameters:
  ///   - piece: The bytes.
  ///   - isLast: Whether the message ends here; then the four bytes are put back that the sender left out.
  ///   - output: Where to append.
  ///   - limit: The most bytes that `output` may grow to.
  /// - Returns: What it came to.
  package mutating func inflate(
    _ piece: RawSpan, isLast: Bool, into output: inout [UInt8], limit: Int
  ) -> Outcome {
    let outcome = inflate(piece, into: &output, limit: limit)
    guard outcome == .inflated, isLast else { return outcome }
    let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    return inflate(tail.span.bytes, into: &output, limit: limit)
  }

  private mutating func inflate(
    _ piece: RawSpan, into output: inout [UInt8], limit: Int
  ) -> Outcome {
    piece.withUnsafeBytes { bytes in
      // zlib does not write through `next_in`; its type says otherwise for historical reasons.
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = UInt32(clamping: bytes.count)
      repeat {
        guard output.count <= limit else { return .tooLarge }
        switch step(into: &output, limit: limit) {
        case Z_OK: continue
        case Z_STREAM_END:
          // A block that calls itself the last one ends no message (section 7.2.3.4).
          guard inflateResetKeep(stream) == Z_OK else { return .damaged }
        case Z_BUF_ERROR:
          return stream.pointee.avail_in == 0 ? .inflated : .damaged
        default: return .damaged
        }
      } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
      return .inflated
    }
  }

  /// Lets zlib write once; memory for it is taken in steps, so that a small message costs little.
  private func step(into output: inout [UInt8], limit: Int) -> Int32 {
    let start = output.count
    // One byte beyond the limit shows that there is more.
    let room = min(limit - start, max(1_023, min(start, 1 << 20))) + 1
    return output.append(upTo: room, of: stream) { CZlib.inflate($0, Z_SYNC_FLUSH) }
  }
}
