import LiveClient

/// A key that a client and its broker share instead of certificates, as it is typed.
enum SharedKeyOptions {
  static let identity = OptionSpec(
    name: "psk-identity", value: "NAME",
    help: "Whose key --psk is, as the broker knows it; that goes over the network in the clear.")
  static let key = OptionSpec(
    name: OptionSpec.preSharedKey.name, value: "HEX",
    help: "Knows the broker of mqtts:// by a key that both have, and needs no certificates.")

  /// The options, in the order of the help.
  static let all = [identity, key]

  /// Reads both options.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - url: The broker.
  /// - Returns: The key; nil where none was typed.
  /// - Throws: ``UsageError`` that does not tell the key.
  static func read(_ arguments: Arguments, for url: BrokerURL) throws(UsageError) -> PreSharedKey? {
    guard all.contains(where: arguments.has) else { return nil }
    guard let name = arguments.value(identity), let digits = arguments.value(key) else {
      throw UsageError(
        "a pre-shared key needs its identity", "type both: --psk-identity NAME --psk HEX")
    }
    guard url.isSecure, url.path == nil else {
      throw UsageError(
        "--psk is for MQTT over TLS, and this URL is for something else", "type mqtts://HOST:PORT")
    }
    let others = [
      BrokerOptions.authority, BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure,
    ]
    if let other = others.first(where: arguments.has) {
      throw UsageError(
        "--psk takes the place of certificates, which --\(other.name) is for",
        "leave one of them out")
    }
    guard (1...PreSharedKey.mostIdentityBytes).contains(name.utf8.count) else {
      throw UsageError(
        "--psk-identity has 1 to \(PreSharedKey.mostIdentityBytes) bytes",
        "type it as the broker knows it")
    }
    return PreSharedKey(identity: name, key: try bytes(digits))
  }

  /// Reads a key; what was typed is a secret, and not told.
  /// - Parameter text: What was typed.
  /// - Returns: The key.
  /// - Throws: ``UsageError``.
  static func bytes(_ text: String) throws(UsageError) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2),
      (1...PreSharedKey.mostKeyBytes).contains(digits.count / 2)
    else {
      throw UsageError(
        "--psk can't be that",
        "type the key as hexadecimal digits, two for each of 1 to \(PreSharedKey.mostKeyBytes) bytes"
      )
    }
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
