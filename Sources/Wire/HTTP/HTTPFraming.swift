/// How the end of a message's body is known (RFC 9112 section 6.3).
package enum HTTPFraming: Sendable, Hashable {
  /// The message has so many bytes of body; 0 where it has none.
  case length(Int)
  /// In chunks, of which the last is empty.
  case chunked
  /// The body ends with the connection.
  case untilClose
  /// What the head says of it contradicts itself.
  case contradictory

  /// No body is longer: a number that every reader of JSON takes exactly.
  private static let longest = 1 << 53

  /// Reads a head.
  /// - Parameters:
  ///   - message: The message, without its body.
  ///   - method: The method of the request that it answers; nil for a request, or where it is not known.
  package init(_ message: HTTPMessage, answering method: String?) {
    let isRequest = message.status == nil
    if let status = message.status {
      let isEmpty = method == "HEAD" || status < 200 || status == 204 || status == 304
      guard !isEmpty else {
        self = .length(0)
        return
      }
    }
    let codings = message.head.list("Transfer-Encoding").filter { !$0.isEmpty }
    if let last = codings.last {
      let isChunked = last.lowercased() == "chunked"
      self = isChunked ? .chunked : isRequest ? .contradictory : .untilClose
      return
    }
    let lengths = Set(message.head.list("Content-Length"))
    guard let length = lengths.first else {
      self = isRequest ? .length(0) : .untilClose
      return
    }
    guard lengths.count == 1, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int(length), count <= Self.longest
    else {
      self = .contradictory
      return
    }
    self = .length(count)
  }
}
