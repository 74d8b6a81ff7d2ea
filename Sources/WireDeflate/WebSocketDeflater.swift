internal import CZlib

/// Compresses the messages of one sender by permessage-deflate (RFC 7692 section 7.2.1).
package struct WebSocketDeflater: ~Copyable {
  // zlib keeps a pointer from its state back to this structure, so that it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let keepsContext: Bool

  /// Creates a deflater; nil when zlib can't allocate its memory.
  /// - Parameters:
  ///   - windowBits: The agreed size of the window (8...15); 8 is rounded up to 9, which is the least
  ///     that zlib does, so don't agree on 8.
  ///   - keepsContext: Whether a message may refer to the ones before it.
  package init?(windowBits: Int = 15, keepsContext: Bool = true) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = deflateInit2_(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -Int32(min(15, max(9, windowBits))), 8,
      Z_DEFAULT_STRATEGY, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      return nil
    }
    self.stream = stream
    self.keepsContext = keepsContext
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Compresses a message.
  /// - Parameter message: What the message says.
  /// - Returns: The payload of its frames, of which the first has RSV1 set.
  package mutating func deflate(_ message: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var message = message
    message.withUnsafeMutableBufferPointer { bytes in
      stream.pointee.next_in = bytes.baseAddress
      stream.pointee.avail_in = UInt32(clamping: bytes.count)
      // Nearly always enough for all at once.
      let room = Int(clamping: deflateBound(stream, UInt(bytes.count))) + 16
      repeat {
        _ = output.append(upTo: room, of: stream) { CZlib.deflate($0, Z_SYNC_FLUSH) }
      } while stream.pointee.avail_out == 0
    }
    if !keepsContext { deflateReset(stream) }
    // A flush ends with an empty block, of which the last four bytes are left out.
    if output.suffix(4) == [0x00, 0x00, 0xFF, 0xFF] { output.removeLast(4) }
    return output.isEmpty ? [0x00] : output
  }
}
