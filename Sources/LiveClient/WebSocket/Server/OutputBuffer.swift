/// Bytes that wait for a socket, taken from the front.
struct OutputBuffer {
  private var bytes: [UInt8] = []
  private var start = 0
  /// How many bytes were ever taken.
  private(set) var taken = 0

  /// How many bytes wait.
  var count: Int { bytes.count - start }
  /// How many bytes were ever added.
  var added: Int { taken &+ count }

  /// Adds bytes at the end.
  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Adds what a closure writes at the end of the array it gets.
  mutating func append(_ write: (inout [UInt8]) -> Void) { write(&bytes) }

  /// Hands the first bytes to a closure and drops as many of them as it says.
  /// - Parameters:
  ///   - limit: The most bytes to hand over.
  ///   - use: Returns how many bytes it took; a negative number is an error and drops none.
  /// - Returns: What the closure returned.
  mutating func take(_ limit: Int, _ use: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int {
    let range = start..<(start + min(limit, count))
    let count = bytes.withUnsafeMutableBufferPointer { use(.init(rebasing: $0[range])) }
    guard count > 0 else { return count }
    start += min(count, range.count)
    taken &+= min(count, range.count)
    if start == bytes.count {
      start = 0
      // A large message's memory is given back; a small buffer is worth keeping.
      bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 18)
    }
    return count
  }
}
