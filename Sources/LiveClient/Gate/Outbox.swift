/// Bytes that wait for a socket to take them.
struct Outbox {
  private var bytes: [UInt8] = []
  private var head = 0

  /// How many bytes wait.
  var count: Int { bytes.count - head }

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// The bytes that wait.
  var waiting: ArraySlice<UInt8> { bytes[head...] }

  /// Adds bytes at the end.
  mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Adds bytes at the end.
  mutating func append(_ more: RawSpan) {
    more.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Takes off bytes that were written.
  /// - Parameter count: How many; no more than wait.
  mutating func removeFirst(_ count: Int) {
    head += min(count, self.count)
    if head == bytes.count {
      // A large packet's memory is given back; a small buffer is worth keeping.
      bytes.removeAll(keepingCapacity: bytes.capacity <= 65_536)
      head = 0
    } else if head > 1_048_576, head > bytes.count / 2 {
      bytes.removeFirst(head)
      head = 0
    }
  }

  /// Gives up what waits.
  mutating func removeAll() { self = Outbox() }
}
