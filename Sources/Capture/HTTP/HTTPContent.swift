import CZlib

/// Undoes the content codings of a body (RFC 9110 section 8.4).
package enum HTTPContent {
  /// A body becomes at most so many times as long, and 4 KiB.
  private static let mostTimes = 100
  private static let always = 4 << 10

  /// Undoes all codings; nil when one is not known, the body is damaged, or becomes too long.
  /// - Parameters:
  ///   - body: The body as it was sent.
  ///   - codings: Its codings, in lower case, in the order in which they were applied.
  ///   - limit: The most bytes that it becomes.
  /// - Returns: The body as it was before them.
  package static func decoded(_ body: [UInt8], _ codings: [String], limit: Int) -> [UInt8]? {
    let limit = min(limit, always + mostTimes * body.count)
    var decoded = body
    for coding in codings.reversed() {
      guard ["gzip", "x-gzip", "deflate"].contains(coding),
        let inflated = inflated(decoded, limit: limit)
      else { return nil }
      decoded = inflated
    }
    return decoded
  }

  /// Inflates what has the wrapper of gzip or of zlib.
  private static func inflated(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
    var stream = z_stream()
    // 15 is the largest window, 32 more takes either wrapper.
    let status = inflateInit2_(
      &stream, 15 + 32, zlibVersion(), Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    return bytes.withUnsafeBufferPointer { input -> [UInt8]? in
      // zlib does not write through `next_in`; its type says otherwise for historical reasons.
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(clamping: input.count)
      while true {
        let (status, count) = piece.withUnsafeMutableBufferPointer { room in
          stream.next_out = room.baseAddress
          stream.avail_out = UInt32(clamping: room.count)
          let status = CZlib.inflate(&stream, Z_NO_FLUSH)
          return (status, room.count - Int(stream.avail_out))
        }
        output += piece[..<count]
        guard output.count <= limit else { return nil }
        if status == Z_STREAM_END { return stream.avail_in == 0 ? output : nil }
        guard status == Z_OK, count > 0 || stream.avail_in > 0 else { return nil }
      }
    }
  }
}
