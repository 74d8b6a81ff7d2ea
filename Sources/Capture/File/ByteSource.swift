#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a file or of standard input, inflated if they are gzip, through one bounded buffer.
///
/// ```swift
/// var source = try ByteSource(path: "-")
/// var records = 0
/// while source.peek(16).byteCount == 16 {  // fewer only where the input ends
///   records += 1
///   source.consume(16)
/// }
/// if let failure = source.failure { throw failure }
/// ```
///
/// Looking ahead never fails: a read error, damaged or cut gzip data end the input where they are,
/// everything before that place is delivered, and ``failure`` says why there is no more.
///
/// The buffer starts at 256 KiB and grows only for a ``peek(_:)`` that asks for more, at most to
/// ``maximumPeek`` bytes, so that memory does not grow with the file.
public struct ByteSource: ~Copyable {
  /// The most bytes that can be looked at together: 16 MiB, and a page for what surrounds a record.
  public static let maximumPeek = 16 << 20 + 4_096

  private static let initialCapacity = 256 << 10

  /// The offset of the next unread byte, after decompression.
  public private(set) var offset = 0
  /// Why the input ended early; nil while it goes on and when it ended as it should.
  public private(set) var failure: CaptureError?
  /// Whether the input is gzip.
  public var isCompressed: Bool { inflater != nil }

  /// The size of a regular file as it lies there, in bytes; nil for anything else.
  let regularSize: Int?
  /// Whether it comes through a pipe or the like, so that nobody knows when more comes.
  let isPiped: Bool

  private var file: InputFile?
  private var inflater: GzipInflater?
  private var compressedOffset = 0
  private var hasEnded = false
  private var buffer: ReadBuffer

  /// Opens a file, or standard input for `-`, and reads its first bytes to see if it is gzip.
  ///
  /// - Parameters:
  ///   - path: The path of the file, or `-`.
  ///   - count: What counts the bytes that are read.
  /// - Throws: `CaptureError` if the file is missing, a directory, or may not be read.
  public init(path: String, counting count: ReadCount? = nil) throws(CaptureError) {
    do throws(CaptureError) {
      let file = try InputFile(path: path, counting: count)
      regularSize = file.regularSize
      isPiped = regularSize == nil
      self.file = consume file
    } catch { throw error.inFile(path) }
    buffer = ReadBuffer(capacity: Self.initialCapacity)
    detectCompression()
  }

  /// Takes bytes in memory as if they were a file; gzip is inflated all the same.
  ///
  /// - Parameter bytes: The content.
  public init(bytes: [UInt8]) {
    file = nil
    regularSize = nil
    isPiped = false
    buffer = ReadBuffer(capacity: bytes.count)
    buffer.append(bytes.span.bytes)
    hasEnded = true
    detectCompression()
  }

  /// Looks at the next bytes without consuming them.
  ///
  /// - Parameter count: How many bytes are wanted; no more than ``maximumPeek`` are given.
  /// - Returns: As many bytes as wanted, or fewer where the input ends.
  @inline(__always)
  @_lifetime(&self)
  public mutating func peek(_ count: Int) -> RawSpan {
    if buffer.count < count { fill(count) }
    return buffer.window(count)
  }

  /// Reads on until so many bytes can be looked at, or the input ends.
  ///
  /// - Parameter count: How many bytes are wanted; no more than ``maximumPeek`` are given.
  /// - Returns: How many of them there are.
  @inline(__always)
  public mutating func load(_ count: Int) -> Int {
    if buffer.count < count { fill(count) }
    return Swift.min(count, buffer.count)
  }

  /// Looks at loaded bytes without consuming them, so that the source can be asked about errors.
  ///
  /// - Parameter count: How many bytes are wanted.
  /// - Returns: As many bytes as wanted, or fewer if fewer were loaded.
  @inline(__always)
  @_lifetime(borrow self)
  public func loaded(_ count: Int) -> RawSpan { buffer.prefix(count) }

  /// Gives up bytes that were looked at; no more than there are in the buffer.
  ///
  /// - Parameter count: The number of bytes.
  @inline(__always)
  public mutating func consume(_ count: Int) {
    offset &+= buffer.consume(count)
  }

  /// Skips bytes without ever holding them all.
  ///
  /// - Parameter count: The number of bytes.
  /// - Returns: How many there were; fewer than asked for only where the input ends.
  public mutating func skip(_ count: Int) -> Int {
    var left = count
    while left > 0 {
      if buffer.count == 0 { fill(1) }
      let step = buffer.consume(left)
      guard step > 0 else { break }
      offset &+= step
      left -= step
    }
    return count - left
  }
}

extension ByteSource {
  /// Reads until so many bytes are in the buffer, or the input ends.
  @inline(never)
  private mutating func fill(_ wanted: Int) {
    let needed = Swift.min(wanted, Self.maximumPeek)
    while buffer.count < needed, !hasEnded {
      buffer.makeRoom(needed, maximum: Self.maximumPeek)
      do throws(CaptureError) {
        if try readMore() == 0 { hasEnded = true }
      } catch {
        failure = error
        hasEnded = true
      }
    }
  }

  private mutating func readMore() throws(CaptureError) -> Int {
    if inflater != nil { return try inflateMore() }
    let place = offset + buffer.count
    return try buffer.append { (room) throws(CaptureError) -> Int in
      try file?.read(into: room, offset: place) ?? 0
    }
  }

  /// Has something looked after while a pipe has nothing.
  mutating func keep(_ pace: PipePace) { file?.pace = pace }

  /// Takes what was read off the count again: someone else is going to read the file from its beginning.
  func countNothing() {
    let bytes = isCompressed ? compressedOffset : offset + buffer.count
    file?.uncount(bytes)
  }

  private mutating func inflateMore() throws(CaptureError) -> Int {
    let place = offset + buffer.count
    while true {
      var step = GzipInflater.Step.needsInput
      let count = buffer.append { room in
        step = inflater?.inflate(into: room) ?? .needsInput
        if case .produced(let count) = step { return count }
        return 0
      }
      switch step {
      case .produced:
        if count > 0 { return count }
      case .damaged(let reason):
        throw CaptureError(
          .damagedCompression, "the gzip data is damaged (\(reason))", offset: place,
          remedy: "copy the file again")
      case .needsInput:
        if try refillInflater() { continue }
        guard inflater?.mayEnd == false else { return 0 }
        throw CaptureError(
          .truncated, "the gzip data is cut short", offset: place,
          remedy: "what came before was read; copy the file again for the rest")
      }
    }
  }

  private mutating func refillInflater() throws(CaptureError) -> Bool {
    let place = compressedOffset
    let count =
      try inflater?.refill { (room) throws(CaptureError) -> Int in
        try file?.read(into: room, offset: place) ?? 0
      } ?? 0
    compressedOffset += count
    return count > 0
  }

  /// RFC 1952 section 2.3.1: gzip begins with 1f 8b.
  private mutating func detectCompression() {
    fill(2)
    guard buffer.prefix(2).uint16(at: 0) == 0x1f8b else { return }
    compressedOffset = buffer.count
    do throws(CaptureError) {
      inflater = try GzipInflater(
        inputCapacity: Self.initialCapacity, head: buffer.prefix(buffer.count))
      hasEnded = failure != nil
    } catch {
      failure = error
      hasEnded = true
    }
    buffer = ReadBuffer(capacity: Self.initialCapacity)
  }
}

extension ByteSource {
  /// Returns why bytes are missing: the input failed, or the file ends early.
  @inline(never)
  func cut(in part: String, has present: Int, of wanted: Int) -> CaptureError {
    if let failure { return failure }
    return CaptureError(
      .truncated,
      "the file ends inside \(part): \(wanted - present) of its \(wanted) bytes are missing",
      offset: offset + buffer.count,
      remedy: "what came before was read; copy or capture it again")
  }
}
