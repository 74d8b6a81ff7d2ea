/// Where finished bytes go: a file, a pipe, or memory.
public protocol ByteSink {
  /// Takes all of the bytes, in order.
  /// - Parameter bytes: The bytes, borrowed for the call.
  /// - Throws: What makes it pointless to go on, such as a full disk.
  mutating func write(_ bytes: RawSpan) throws
}

/// Bytes that are kept in memory.
public struct MemorySink: ByteSink, Sendable {
  /// What was written.
  public private(set) var bytes: [UInt8] = []

  /// Creates an empty sink.
  public init() {}

  /// Keeps the bytes.
  public mutating func write(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
  }
}

/// Whole lines on their way to a sink, handed on in large pieces.
///
/// A sink never sees half a line, so that what it keeps is valid at any moment.
package struct LineBuffer<Sink: ByteSink> {
  /// Where the lines go.
  package private(set) var sink: Sink
  /// The lines that are not handed on; append to it, then call ``endLine()``.
  package var bytes: [UInt8] = []
  private let threshold: Int

  /// Creates a buffer.
  /// - Parameters:
  ///   - sink: Where the lines go.
  ///   - threshold: How many bytes to gather before they are handed on; 0 hands on every line.
  package init(_ sink: Sink, threshold: Int = 1 << 16) {
    self.sink = sink
    self.threshold = threshold
    bytes.reserveCapacity(threshold + 4_096)
  }

  /// Ends the line and hands the lines on if enough are gathered.
  /// - Throws: What the sink throws.
  package mutating func endLine() throws {
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count >= threshold { try flush() }
  }

  /// Hands on all that is gathered.
  /// - Throws: What the sink throws; the lines are gone then.
  package mutating func flush() throws {
    guard !bytes.isEmpty else { return }
    var pending: [UInt8] = []
    swap(&pending, &bytes)
    try sink.write(pending.span.bytes)
    // The memory of a huge line is given back; that of ordinary ones is used again.
    pending.removeAll(keepingCapacity: pending.capacity <= 1 << 20)
    swap(&pending, &bytes)
  }
}
