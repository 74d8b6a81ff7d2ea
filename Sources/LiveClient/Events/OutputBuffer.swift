/// Bytes that wait for a socket to take them, taken from the front.
package struct OutputBuffer {
  private var bytes: [UInt8] = []
  private var head = 0
  /// How many bytes were ever taken.
  private(set) var taken = 0

  /// How much memory is kept for what comes next when nothing waits.
  private static let spare = 1 << 18
  /// How many bytes that were taken may stay in front of those that wait.
  private static let waste = 1 << 20

  /// Creates an empty buffer.
  package init() {}

  /// How many bytes wait.
  package var count: Int { bytes.count - head }
  /// Whether nothing waits.
  package var isEmpty: Bool { count == 0 }
  /// How many bytes were ever added.
  var added: Int { taken &+ count }
  /// How many bytes of memory it has.
  var capacity: Int { bytes.capacity }
  /// The bytes that wait.
  package var waiting: ArraySlice<UInt8> { bytes[head...] }

  /// Adds bytes at the end.
  package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Adds bytes at the end.
  package mutating func append(_ more: RawSpan) {
    more.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Adds what a closure writes at the end of the array it gets.
  package mutating func append(_ write: (inout [UInt8]) -> Void) { write(&bytes) }

  /// Hands the first bytes to a closure and drops as many of them as it says.
  /// - Parameters:
  ///   - limit: The most bytes to hand over.
  ///   - use: Returns how many bytes it took; a negative number is an error and drops none.
  /// - Returns: What the closure returned.
  mutating func take(_ limit: Int, _ use: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> Int {
    let range = head..<(head + min(limit, count))
    let count = bytes.withUnsafeMutableBufferPointer { use(.init(rebasing: $0[range])) }
    removeFirst(min(count, range.count))
    return count
  }

  /// Takes off bytes that were written.
  /// - Parameter count: How many; no more than wait.
  package mutating func removeFirst(_ count: Int) {
    let count = min(count, self.count)
    guard count > 0 else { return }
    head += count
    taken &+= count
    if head == bytes.count {
      head = 0
      // A large message's memory is given back; a small buffer is worth keeping.
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.spare)
    } else if head > Self.waste, head > bytes.count / 2 {
      // A peer that never takes all of it would have all of it kept.
      bytes.removeFirst(head)
      head = 0
    }
  }

  /// Gives up what waits.
  package mutating func removeAll() { self = OutputBuffer() }
}
