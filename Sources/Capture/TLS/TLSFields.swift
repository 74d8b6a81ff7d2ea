/// Fields of a handshake message, one behind the other, none of which reaches beyond the end.
struct TLSFields {
  /// What is not read yet.
  var rest: ArraySlice<UInt8>

  /// Reads so many bytes.
  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Reads a number of so many bytes.
  mutating func number(_ width: Int) -> Int? {
    bytes(width)?.reduce(0) { $0 << 8 | Int($1) }
  }

  /// Reads bytes behind their count.
  mutating func prefixed(_ width: Int) -> ArraySlice<UInt8>? {
    let before = rest
    guard let count = number(width), let content = bytes(count) else {
      rest = before
      return nil
    }
    return content
  }
}
