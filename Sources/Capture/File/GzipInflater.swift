import CZlib

/// The one owner of a zlib stream that inflates gzip files of any number of members (RFC 1952).
struct GzipInflater: ~Copyable {
  /// What one step of inflation came to.
  enum Step {
    /// Bytes were produced; there may be more.
    case produced(Int)
    /// The input is used up.
    case needsInput
    /// The data is not gzip from here on.
    case damaged(String)
  }

  /// Whether the input may end here without loss: between two members.
  private(set) var mayEnd = false

  // zlib keeps a pointer from its state back to this structure, so that it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private var input: ReadBuffer

  /// Creates an inflater.
  ///
  /// - Parameters:
  ///   - inputCapacity: The size of the buffer of compressed bytes.
  ///   - head: The compressed bytes that have been read already.
  /// - Throws: `CaptureError` if zlib cannot allocate its window.
  init(inputCapacity: Int, head: RawSpan) throws(CaptureError) {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 is the largest window, 16 more asks for the gzip wrapper with its checksum.
    let status = inflateInit2_(
      stream, 15 + 16, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      throw CaptureError(.readFailed, "zlib cannot be started (status \(status))")
    }
    self.stream = stream
    input = ReadBuffer(capacity: Swift.max(inputCapacity, head.byteCount))
    input.append(head)
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Reads more compressed bytes once the earlier ones are used up.
  ///
  /// - Parameter read: Reads compressed bytes and returns how many; 0 means the end.
  /// - Returns: How many bytes there were.
  /// - Throws: What `read` throws.
  mutating func refill(
    _ read: (UnsafeMutableRawBufferPointer) throws(CaptureError) -> Int
  ) throws(CaptureError) -> Int {
    input.makeRoom(0, maximum: 0)
    return try input.append(read)
  }

  /// Inflates what it can into a buffer.
  mutating func inflate(into output: UnsafeMutableRawBufferPointer) -> Step {
    if mayEnd {
      guard let first = input.prefix(1).uint8(at: 0) else { return .needsInput }
      switch first {
      case 0x1f:
        inflateReset(stream)
        mayEnd = false
      case 0:
        // Padding to a block of a tape or a disk, which gzip takes as well.
        _ = input.consume(1)
        return .produced(0)
      default:
        return .damaged("bytes that are not gzip follow the compressed data")
      }
    }
    guard input.count > 0 else { return .needsInput }
    let status = step(into: output)
    let produced = output.count - Int(stream.pointee.avail_out)
    switch status {
    case Z_STREAM_END:
      mayEnd = true
      return .produced(produced)
    case Z_OK, Z_BUF_ERROR:
      return produced == 0 && input.count == 0 ? .needsInput : .produced(produced)
    default:
      // What was inflated before the damage is delivered; zlib repeats its answer the next time.
      if produced > 0 { return .produced(produced) }
      return .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "status \(status)")
    }
  }

  private mutating func step(into output: UnsafeMutableRawBufferPointer) -> Int32 {
    let available = input.count
    let status = input.prefix(available).withUnsafeBytes { bytes in
      // zlib does not write through `next_in`; its type says otherwise for historical reasons.
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = UInt32(clamping: available)
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(clamping: output.count)
      return CZlib.inflate(stream, Z_NO_FLUSH)
    }
    _ = input.consume(available - Int(stream.pointee.avail_in))
    return status
  }
}
