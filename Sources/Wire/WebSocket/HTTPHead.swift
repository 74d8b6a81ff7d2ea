/// The head of an HTTP/1.1 message: start line and header lines (RFC 9112 section 2.1).
public struct HTTPHead: Sendable, Hashable {
  /// The head from its first byte to the empty line that ends it, with that line.
  public let bytes: [UInt8]
  /// The first line without its end.
  public let startLine: String
  /// The header lines in their order.
  public let fields: [Field]
  /// The header lines that break the syntax.
  public let faults: [WebSocketFault]

  /// A header line.
  public struct Field: Sendable, Hashable {
    /// The name, as it was written.
    public var name: String
    /// The value without the white space around it; what is not UTF-8 becomes U+FFFD.
    public var value: String
    /// Where the line starts, in bytes from the start of the head.
    public var offset: Int

    /// Creates a header line.
    public init(_ name: String, _ value: String, offset: Int = 0) {
      self.name = name
      self.value = value
      self.offset = offset
    }
  }

  /// Reads a head.
  /// - Parameter bytes: The head, as ``HTTPHeadReader`` cuts it out of a stream.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var lines = HTTPLines(bytes)
    let first = lines.next()
    startLine = first.map { String(decoding: bytes[$0.text], as: UTF8.self) } ?? ""
    var fields: [Field] = []
    var faults: [WebSocketFault] = []
    func note(_ offset: Int) {
      faults.append(WebSocketFault(.malformedHeader, in: .header, at: offset))
    }
    if first?.isBare == true { note(first?.text.upperBound ?? 0) }
    while let line = lines.next(), !line.text.isEmpty {
      let text = bytes[line.text]
      // A line feed alone ends a line for most readers, but no sender may write it so.
      if line.isBare { note(line.text.upperBound) }
      // What begins with white space goes on with the line before (RFC 2616 section 2.2).
      if let last = fields.indices.last, text.first == 0x20 || text.first == 0x09 {
        let rest = HTTPText.trimmed(text)
        if let bad = rest.firstIndex(where: HTTPText.isControl) { note(bad) }
        fields[last].value += " " + String(decoding: rest, as: UTF8.self)
        continue
      }
      guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
        note(line.text.lowerBound)
        continue
      }
      let name = text[..<colon]
      if !HTTPText.isToken(name) { note(line.text.lowerBound) }
      let value = HTTPText.trimmed(text[(colon + 1)...])
      if let bad = value.firstIndex(where: HTTPText.isControl) { note(bad) }
      fields.append(
        Field(
          String(decoding: HTTPText.trimmed(name), as: UTF8.self),
          String(decoding: value, as: UTF8.self), offset: line.text.lowerBound))
    }
    self.fields = fields
    self.faults = faults
  }

  /// Creates a head from its parts.
  /// - Parameters:
  ///   - startLine: The first line.
  ///   - fields: The header lines.
  public init(startLine: String, fields: [Field]) {
    var text = startLine + "\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    self.init(Array((text + "\r\n").utf8))
  }

  /// Whether writing start line and header lines again gives the very bytes.
  public var isGivenByFields: Bool {
    HTTPHead(startLine: startLine, fields: fields).bytes == bytes
  }

  /// Returns the header lines of a name, whatever its case (RFC 9110 section 5.1).
  public func fields(named name: String) -> [Field] {
    fields.filter { HTTPText.areEqual($0.name, name) }
  }

  /// Returns the members of a list that the header lines of a name make up (RFC 9110 section 5.6.1),
  /// each without the white space around it; empty ones are left out where they are.
  public func list(_ name: String) -> [String] {
    fields(named: name).flatMap { field in
      field.value.split(separator: ",", omittingEmptySubsequences: false).map(HTTPText.trimmed)
    }
  }

  /// Tells whether a list has a member, whatever its case.
  func list(_ name: String, has token: String) -> Bool {
    list(name).contains { $0.lowercased() == token }
  }
}

/// The lines of a head.
private struct HTTPLines: IteratorProtocol {
  struct Line {
    /// Where the line stands, without its end.
    var text: Range<Int>
    /// Whether it ends with a line feed alone.
    var isBare: Bool
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> Line? {
    guard position < bytes.count else { return nil }
    let start = position
    guard let feed = bytes[start...].firstIndex(of: 0x0A) else {
      position = bytes.count
      return Line(text: start..<bytes.count, isBare: true)
    }
    position = feed + 1
    let hasReturn = feed > start && bytes[feed - 1] == 0x0D
    return Line(text: start..<(hasReturn ? feed - 1 : feed), isBare: !hasReturn)
  }
}

/// The characters of HTTP (RFC 9110 sections 5.5 and 5.6.2).
package enum HTTPText {
  /// Tells whether a text is a token (RFC 9110 section 5.6.2).
  package static func isToken(_ text: some Collection<UInt8>) -> Bool {
    !text.isEmpty && text.allSatisfy(isTokenCharacter)
  }

  /// Tells whether two names are the same, whatever the case of their letters.
  static func areEqual(_ name: String, _ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && zip(name.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Tells whether a byte can't stand in the value of a header line (RFC 9110 section 5.5).
  package static func isControl(_ byte: UInt8) -> Bool {
    (byte < 0x20 && byte != 0x09) || byte == 0x7F
  }

  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let rest = text.drop { $0 == 0x20 || $0 == 0x09 }
    let end = rest.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? rest.startIndex
    return rest[..<end]
  }

  static func trimmed(_ text: Substring) -> String {
    String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
  }
}
