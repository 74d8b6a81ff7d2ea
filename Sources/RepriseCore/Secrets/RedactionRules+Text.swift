import Wire

extension RedactionRules {
  /// Tells whether a secret stands anywhere in some bytes.
  func findSecret(in bytes: RawSpan) -> Bool {
    guard !names.isEmpty else { return false }
    return bytes.withUnsafeBytes { bytes in
      var secrets = SecretScanner(bytes, names)
      return secrets.next() != nil
    }
  }

  /// Tells whether a secret, or a part of what has the name of one, may stand in bytes that are not read.
  func mayStand(in bytes: RawSpan) -> Bool {
    hidesMore || (!names.isEmpty && (names.stand(in: bytes) || findSecret(in: bytes)))
  }

  /// Hands on some bytes in pieces, with `***` in the place of secrets.
  ///
  /// What is JSON stays JSON: `***` is a string in the place of every value, be it a number or an object.
  func hide(in bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
    guard !names.isEmpty else { return take(bytes) }
    var secrets = SecretScanner(bytes, names)
    var start = 0
    while let secret = secrets.next() {
      take(UnsafeRawBufferPointer(rebasing: bytes[start..<secret.range.lowerBound]))
      var substitute = secret.substitute
      substitute.withUTF8 { take(UnsafeRawBufferPointer($0)) }
      start = secret.range.upperBound
    }
    take(UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Calls a closure with text as it may be shown.
  func withShown(_ text: RawSpan, _ use: (RawSpan) -> Void) {
    guard findSecret(in: text) else { return use(text) }
    var shown: [UInt8] = []
    text.withUnsafeBytes { bytes in hide(in: bytes) { shown.append(contentsOf: $0) } }
    use(shown.span.bytes)
  }

  /// Returns text as it may be shown; it may be JSON or contain it, also as a string of JSON.
  package func shown(_ text: String) -> String {
    guard findSecret(in: text.utf8Span.span.bytes) else { return text }
    var shown: [UInt8] = []
    withShown(text.utf8Span.span.bytes) { shown.append($0) }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Returns a value of JSON as it may be shown, also in strings that are JSON themselves.
  package func shown(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .number: value
    case .string(let text): .string(shown(text))
    case .array(let values): .array(values.map(shown))
    case .object(let members): .object(shown(members))
    }
  }

  private func shown(_ members: [JSONMember]) -> [JSONMember] {
    let hasSecretName = hasSecretName(members)
    return members.map { shown($0, isNamedBeside: hasSecretName) }
  }

  /// Whether one of the members of an object says by the name of a secret what its `value` is.
  private func hasSecretName(_ members: [JSONMember]) -> Bool {
    members.contains { member in
      guard case .string(let text) = member.value else { return false }
      let (key, value) = (Array(member.key.utf8), Array(text.utf8))
      return key.withUnsafeBytes { SecretNames.isNameOfName($0) }
        && value.withUnsafeBytes { names.contain(value: $0) }
    }
  }

  private func shown(_ member: JSONMember, isNamedBeside: Bool) -> JSONMember {
    switch member.value {
    case .string, .number, .array, .object:
      let key = Array(member.key.utf8)
      let isValue = isNamedBeside && key.withUnsafeBytes { SecretNames.isValueName($0) }
      let isSecret = isValue || names.contain(member.key)
      let value = isSecret ? .string(Self.mark) : shown(member.value)
      return JSONMember(member.key, value, offset: member.offset)
    // They tell nothing.
    case .null, .bool: return member
    }
  }
}

extension String {
  /// The text with `***` for secrets, see ``RedactionRules``.
  package var hidingSecrets: String { RedactionRules().shown(self) }
}

extension JSONValue {
  /// The value with `***` in the place of what is a secret by its name: `iotToken`, `sign`, `deviceSecret`;
  /// also in strings that are JSON themselves.
  public var hidingSecrets: JSONValue { RedactionRules().shown(self) }
}

extension [UInt8] {
  /// Appends a JSON string as it may be shown; what is not well-formed UTF-8 becomes U+FFFD.
  mutating func append(quoted text: RawSpan, hiding rules: RedactionRules) {
    append(UInt8(ascii: "\""))
    if UTF8Text.isWellFormed(text) {
      append(escaped: text, hiding: rules)
    } else {
      let repaired = Array(String(copying: text).utf8)
      append(escaped: repaired.span.bytes, hiding: rules)
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends well-formed UTF-8 as ``append(escaped:)`` does, as it may be shown.
  mutating func append(escaped text: RawSpan, hiding rules: RedactionRules) {
    text.withUnsafeBytes { bytes in rules.hide(in: bytes) { append(escaped: $0) } }
  }
}
