/// A text that nobody may see: a device's secret, a product's secret.
///
/// It is shown as `***` wherever values are shown: in texts, logs, errors, debuggers and `dump`.
public struct Secret: Sendable, Hashable {
  /// The text itself, for who has to store it or hand it on.
  public let revealed: String

  /// Creates a secret.
  /// - Parameter text: The text.
  public init(_ text: String) { revealed = text }

  /// Whether there is nothing to be kept secret.
  public var isEmpty: Bool { revealed.isEmpty }

  var bytes: [UInt8] { Array(revealed.utf8) }
}

extension Secret: Decodable {
  /// Reads a secret from a text.
  /// - Parameter decoder: Where the text stands.
  /// - Throws: `DecodingError` when it is no text.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
}

extension Secret: ExpressibleByStringLiteral {
  /// Creates a secret from the text in a program, as tests have it.
  public init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Three stars.
  public var description: String { "***" }

  /// Three stars.
  public var debugDescription: String { "***" }

  /// What debuggers and `dump` show: nothing.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
