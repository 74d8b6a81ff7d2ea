internal import CZlib

extension [UInt8] {
  /// Appends what zlib writes in one step; nothing is copied, as zlib's bytes are the first in this memory.
  /// - Parameters:
  ///   - room: The most bytes that it may write.
  ///   - stream: The stream.
  ///   - step: Lets zlib write once, and returns its status.
  /// - Returns: The status.
  mutating func append(
    upTo room: Int, of stream: UnsafeMutablePointer<z_stream>,
    _ step: (UnsafeMutablePointer<z_stream>) -> Int32
  ) -> Int32 {
    var status = Z_OK
    append(addingCapacity: room) { (span: inout OutputSpan<UInt8>) in
      span.withUnsafeMutableBufferPointer { buffer, count in
        stream.pointee.next_out = buffer.baseAddress
        stream.pointee.avail_out = UInt32(clamping: room)
        status = step(stream)
        count = room - Int(stream.pointee.avail_out)
      }
    }
    return status
  }
}
