/// An extension with its parameters, as `Sec-WebSocket-Extensions` names it (RFC 6455 section 9.1).
public struct WebSocketExtension: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The parameters in their order; the value is nil where there is none.
  public var parameters: [Parameter]

  /// A parameter of an extension.
  public struct Parameter: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, without quotes; nil where there is none.
    public var value: String?

    /// Creates a parameter.
    public init(_ name: String, _ value: String? = nil) {
      self.name = name
      self.value = value
    }
  }

  /// Creates an extension.
  public init(_ name: String, _ parameters: [Parameter] = []) {
    self.name = name
    self.parameters = parameters
  }

  /// Reads the value of a header line.
  /// - Parameter value: The value.
  /// - Returns: The extensions, and whether the value keeps to the syntax; what follows the first
  ///   mistake is left out.
  public static func parse(_ value: String) -> (extensions: [WebSocketExtension], isValid: Bool) {
    var parser = ExtensionParser(value)
    let isValid = parser.parse()
    return (parser.result, isValid)
  }
}

extension [WebSocketExtension] {
  /// About the memory that the extensions take, in bytes: more than the text that names them.
  package var reserved: Int {
    reduce(0) { sum, named in
      named.parameters.reduce(sum + MemoryLayout<Element>.stride + named.name.reserved) {
        $0 + MemoryLayout<Element.Parameter>.stride + $1.name.reserved + ($1.value?.reserved ?? 0)
      }
    }
  }
}

extension String {
  /// What a text takes besides its place: a short one nothing.
  package var reserved: Int { utf8.count > 15 ? utf8.count + 32 : 0 }
}

extension WebSocketExtension: CustomStringConvertible {
  /// The extension as a header line has it.
  public var description: String {
    // Added to one text: there may be thousands.
    parameters.reduce(into: name) { text, parameter in
      text += "; "
      text += parameter.name
      if let value = parameter.value { text += "=" + value }
    }
  }
}

/// Reads `name; parameter=value, name` (RFC 6455 section 9.1).
private struct ExtensionParser {
  private let bytes: [UInt8]
  private var position = 0
  private(set) var result: [WebSocketExtension] = []

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Reads to the end; false at the first mistake.
  mutating func parse() -> Bool {
    repeat {
      // A list may have elements with nothing in them (RFC 2616 section 2.1), but not these alone.
      while skip(UInt8(ascii: ",")) {}
      if position == bytes.count, !result.isEmpty { return true }
      guard let name = token() else { return false }
      var extended = WebSocketExtension(name)
      while skip(UInt8(ascii: ";")) {
        guard let parameter = parameter() else {
          result.append(extended)
          return false
        }
        extended.parameters.append(parameter)
      }
      result.append(extended)
    } while skip(UInt8(ascii: ","))
    return position == bytes.count
  }

  private mutating func parameter() -> WebSocketExtension.Parameter? {
    guard let name = token() else { return nil }
    guard skip(UInt8(ascii: "=")) else { return .init(name) }
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      return token().map { .init(name, $0) }
    }
    return quoted().map { .init(name, $0) }
  }

  private mutating func token() -> String? {
    skipSpace()
    let start = position
    while position < bytes.count, HTTPText.isTokenCharacter(bytes[position]) { position += 1 }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  /// Reads a quoted string, which must be a token without its quotes (section 9.1).
  private mutating func quoted() -> String? {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") {
        return HTTPText.isToken(text) ? String(decoding: text, as: UTF8.self) : nil
      }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard position < bytes.count else { return nil }
      text.append(bytes[position])
      position += 1
    }
    return nil
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 {
      position += 1
    }
  }
}
