import Testing

/// Names the case of a parameterised test by its arguments, the same in every run.
///
/// The text of an argument is itself, its `testDescription`, its raw value or its description. What can't stand in the
/// name of a file becomes `-`; a hash of the whole text tells such names apart.
enum ArgumentName {
  /// The most characters of a text that stand in a name.
  private static let limit = 60

  /// Returns the name of a case.
  /// - Parameters:
  ///   - testCase: The case.
  ///   - recording: The recording's name, for messages.
  /// - Returns: The name; nil where a test has no arguments.
  /// - Throws: ``CassetteError/Code/badName`` when an argument has none.
  static func name(
    of testCase: Test.Case, recording: String
  ) throws(CassetteError) -> String? {
    guard testCase.isParameterized else { return nil }
    guard let arguments = arguments(of: testCase), !arguments.isEmpty else {
      throw CassetteError(
        .badName,
        "\(recording): the arguments of this test can't be told; name the recording of each in the "
          + "test, by Cassette")
    }
    var parts: [String] = []
    for argument in arguments { parts.append(try part(text(argument, recording))) }
    // No part has a comma, so that two lists of arguments never have one name.
    return parts.joined(separator: ",")
  }

  /// The arguments of a case, which Testing shows to nobody but a mirror.
  private static func arguments(of testCase: Test.Case) -> [Any]? {
    guard let kind = child("_kind", of: testCase), let cases = child("parameterized", of: kind),
      let list = child("arguments", of: cases)
    else { return nil }
    var values: [Any] = []
    for argument in Mirror(reflecting: list).children {
      guard let value = child("value", of: argument.value) else { return nil }
      values.append(value)
    }
    return values
  }

  private static func child(_ label: String, of value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    return mirror.children.first { $0.label == label }?.value
  }

  private static func text(_ value: Any, _ recording: String) throws(CassetteError) -> String {
    if let text = value as? any StringProtocol { return String(text) }
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      return try mirror.children.first.map { child throws(CassetteError) in
        try text(child.value, recording)
      } ?? "nil"
    }
    if let value = value as? any CustomTestStringConvertible { return value.testDescription }
    if let value = value as? any RawRepresentable { return "\(value.rawValue)" }
    guard mirror.displayStyle != .class || value is any CustomStringConvertible
    else {
      throw CassetteError(
        .badName,
        "\(recording): an argument of type \(type(of: value)) has no name that is the same in every "
          + "run; let the type conform to CustomTestStringConvertible")
    }
    return "\(value)"
  }

  /// The text of an argument as a part of a file's name.
  static func part(_ text: String) -> String {
    let shown = text.unicodeScalars.map { scalar in
      let isKept =
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        || "-_.".unicodeScalars.contains(scalar)
      return isKept ? Character(scalar) : "-"
    }
    let name = String(shown.prefix(limit))
    guard name != text || name.isEmpty || name.hasPrefix(".") else { return name }
    var hash: UInt32 = 0x811C_9DC5
    for byte in text.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    let digits = String(hash, radix: 16)
    var stem = name.drop { $0 == "." || $0 == "-" }
    while stem.last == "-" { stem.removeLast() }
    return (stem.isEmpty ? "" : "\(stem)-") + String(repeating: "0", count: 8 - digits.count)
      + digits
  }
}
