extension JSONValue {
  /// Reads one JSON text, and says where it is none.
  /// - Parameter bytes: UTF-8, with nothing but white space around the value.
  /// - Returns: The value.
  /// - Throws: ``JSONSyntaxError`` with the first place that is not JSON.
  public static func read(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    try JSONParser.parse(bytes.span.bytes)
  }
}
