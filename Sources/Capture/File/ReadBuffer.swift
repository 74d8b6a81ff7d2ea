/// The one owner of the memory between a file and its readers: a window of unread bytes that moves.
///
/// Plain memory instead of an array, because an array's span cannot leave a mutating function, and
/// because bytes about to be overwritten by `read` need no zeroes first.
struct ReadBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private var start = 0
  private var end = 0

  /// Creates an empty buffer.
  ///
  /// - Parameter capacity: Its first size.
  init(capacity: Int) {
    self.capacity = Swift.max(capacity, 16)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The number of unread bytes.
  @inline(__always)
  var count: Int { end &- start }

  /// Returns the first unread bytes; fewer where there are fewer.
  @inline(__always)
  @_lifetime(borrow self)
  func prefix(_ wanted: Int) -> RawSpan {
    let available = Swift.max(0, Swift.min(wanted, count))
    let bytes = RawSpan(_unsafeStart: UnsafeRawPointer(base + start), byteCount: available)
    return _overrideLifetime(bytes, borrowing: self)
  }

  /// Returns the first unread bytes and keeps the buffer from changing while they are looked at.
  @inline(__always)
  @_lifetime(&self)
  mutating func window(_ wanted: Int) -> RawSpan {
    let available = Swift.max(0, Swift.min(wanted, count))
    let bytes = RawSpan(_unsafeStart: UnsafeRawPointer(base + start), byteCount: available)
    return _overrideLifetime(bytes, mutating: &self)
  }

  /// Gives up unread bytes and returns how many there were to give up.
  @inline(__always)
  mutating func consume(_ wanted: Int) -> Int {
    let consumed = Swift.max(0, Swift.min(wanted, count))
    start &+= consumed
    return consumed
  }

  /// Moves the unread bytes to the front, and enlarges the buffer if it is too small by its size.
  ///
  /// - Parameters:
  ///   - needed: The number of bytes that must fit, the unread ones included.
  ///   - maximum: The size that the buffer never exceeds.
  mutating func makeRoom(_ needed: Int, maximum: Int) {
    let unread = count
    if capacity < needed, capacity < maximum {
      capacity = Swift.min(Swift.max(needed, capacity * 2), maximum)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      larger.copyMemory(from: base + start, byteCount: unread)
      base.deallocate()
      base = larger
    } else if start > 0 {
      base.copyMemory(from: base + start, byteCount: unread)
    }
    start = 0
    end = unread
  }

  /// Lets somebody write behind the unread bytes, and keeps as many as they say they wrote.
  mutating func append<Failure: Error>(
    _ write: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    let room = UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
    let written = Swift.max(0, Swift.min(try write(room), capacity - end))
    end += written
    return written
  }

  /// Copies bytes behind the unread ones, as many as fit.
  mutating func append(_ bytes: RawSpan) {
    let fitting = Swift.min(bytes.byteCount, capacity - end)
    guard fitting > 0 else { return }
    bytes.withUnsafeBytes { source in
      guard let address = source.baseAddress else { return }
      (base + end).copyMemory(from: address, byteCount: fitting)
    }
    end += fitting
  }
}
