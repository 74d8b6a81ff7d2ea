import Wire

/// Puts the handshake messages of one side together, be they cut over records or many in one.
struct TLSHandshakeMessages {
  /// The types that are looked at (RFC 8446 section 4, RFC 5246 section 7.4).
  enum Kind: UInt8 {
    case clientHello = 1
    case serverHello = 2
    case newSessionTicket = 4
    case endOfEarlyData = 5
    case encryptedExtensions = 8
    case clientKeyExchange = 16
    case finished = 20
    case keyUpdate = 24
  }

  /// A message that is looked at; longer ones are not.
  struct Message {
    let kind: Kind
    let body: ArraySlice<UInt8>
  }

  private static let headerSize = 4
  private static let longest = 1 << 16

  private var bytes: [UInt8] = []
  /// What is still to come of a message that is not looked at.
  private var skip = 0
  /// Whether something is missing, so that nobody knows where the next message begins.
  private var isBroken = false

  /// How many bytes came behind the last message that was returned.
  var countBehind: Int { bytes.count }

  /// The memory that an unfinished message takes, in bytes.
  var reserved: Int { bytes.count }

  /// Takes the content of a record.
  mutating func append(_ fragment: RawSpan) {
    guard !isBroken else { return }
    let skipped = min(skip, fragment.byteCount)
    skip -= skipped
    bytes += Array(copying: fragment.extracting(skipped..<fragment.byteCount))
  }

  /// Returns the next message that is whole and looked at.
  mutating func next() -> Message? {
    while bytes.count >= Self.headerSize {
      let length = bytes[1..<Self.headerSize].reduce(0) { $0 << 8 | Int($1) }
      let size = Self.headerSize + length
      if let kind = Kind(rawValue: bytes[0]), length <= Self.longest {
        guard bytes.count >= size else { return nil }
        let message = Message(kind: kind, body: bytes[Self.headerSize..<size])
        bytes.removeFirst(size)
        return message
      }
      let present = min(size, bytes.count)
      skip = size - present
      bytes.removeFirst(present)
    }
    return nil
  }

  /// Takes the loss of a record's content.
  mutating func lose() {
    self = Self()
    isBroken = true
  }
}
