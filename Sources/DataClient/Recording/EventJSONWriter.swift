/// Writes events as the lines of JSON that `inspect` prints and recordings hold.
public struct EventJSONWriter: Sendable {
  /// Whether user passwords, tokens and signatures are written; `"***"` stands for them if not.
  public var showsSecrets: Bool

  /// Creates a writer.
  public init(showsSecrets: Bool = false) { self.showsSecrets = showsSecrets }

  /// Appends one event as a JSON object, without a line end.
  /// - Parameters:
  ///   - event: The event.
  ///   - file: The value of the key `file`; nil leaves it out, as recordings do.
  ///   - buffer: Where to append UTF-8.
  public func append(_ event: borrowing EventView, file: String? = nil, to buffer: inout [UInt8]) {
  }
}
