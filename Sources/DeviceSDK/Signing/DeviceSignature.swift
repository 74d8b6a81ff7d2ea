package import RepriseCore

/// The signature of a device over what it submits.
///
/// The parameters are sorted by the bytes of their keys, and every key with its value is put behind
/// the last without anything between. `sign`, `signMethod`, `signmethod` and `cleanSession` are not
/// signed.
package enum DeviceSignature {
  /// What a signature is made with.
  package enum Key: Sendable, Hashable {
    /// The secret of the device.
    case deviceSecret(Secret)
    /// The secret of the product, which devices have that got none of their own yet.
    case productSecret(Secret)

    var secret: Secret {
      switch self {
      case .deviceSecret(let secret), .productSecret(let secret): secret
      }
    }

    var name: String {
      switch self {
      case .deviceSecret: "deviceSecret"
      case .productSecret: "productSecret"
      }
    }
  }

  private static let unsigned: Set<String> = ["sign", "signMethod", "signmethod", "cleanSession"]

  /// Returns the text that is signed by the HMAC methods.
  /// - Parameter params: What is submitted; values that are no text are signed as their JSON.
  /// - Returns: The text.
  package static func content(of params: [String: JSONValue]) -> String {
    sortedPairs(of: params).map { $0.key + $0.text }.joined()
  }

  /// Signs what is submitted.
  /// - Parameters:
  ///   - params: What is submitted, with at least `productKey` and `deviceName`.
  ///   - method: How it is signed.
  ///   - key: What it is signed with.
  /// - Returns: The signature in hexadecimal digits of lower case; servers take either case.
  /// - Throws: ``SigningError`` when a mandatory parameter or the secret is missing
  ///   or empty, or when the system's OpenSSL forbids the method.
  package static func sign(
    _ params: [String: JSONValue], method: SignMethod, key: Key
  ) throws(SigningError) -> String {
    for name in ["productKey", "deviceName"] where (params[name].map(text) ?? "").isEmpty {
      throw SigningError("\(name) is missing in what is to be signed")
    }
    guard !key.secret.isEmpty else {
      throw SigningError("\(key.name) is empty; nothing can be signed with it")
    }
    let bytes: [UInt8]?
    switch method {
    case .hmacMD5, .hmacSHA1, .hmacSHA256:
      bytes = Digest.hmac(method, key: key.secret.bytes, Array(content(of: params).utf8))
    case .sha256: bytes = Digest.sha256(contentWithSecret(of: params, key))
    }
    guard let bytes else {
      throw SigningError("OpenSSL does not allow \(method.rawValue) here; sign with hmacsha256")
    }
    return Digest.hex(bytes)
  }

  /// Tells whether two signatures are the same; the case of their digits does not count.
  /// - Parameters:
  ///   - first: A signature.
  ///   - second: Another.
  /// - Returns: Whether they are.
  package static func areEqual(_ first: String, _ second: String) -> Bool {
    first.lowercased() == second.lowercased()
  }

  /// The text of the method without a key: either secret stands where `deviceSecret` has its place
  /// in the order of the keys, also when it is the product's.
  private static func contentWithSecret(
    of params: [String: JSONValue], _ key: Key
  ) -> [UInt8] {
    let place = Array("deviceSecret".utf8)
    let pairs = sortedPairs(of: params.filter { $0.key != "deviceSecret" })
    let before = pairs.prefix { $0.key.utf8.lexicographicallyPrecedes(place) }
    let texts =
      before.map { $0.key + $0.text } + [key.name + key.secret.revealed]
      + pairs.dropFirst(before.count).map { $0.key + $0.text }
    return Array(texts.joined().utf8)
  }

  private static func sortedPairs(
    of params: [String: JSONValue]
  ) -> [(key: String, text: String)] {
    params.filter { !unsigned.contains($0.key) }
      .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { ($0.key, text($0.value)) }
  }

  private static func text(_ value: JSONValue) -> String {
    value.text ?? String(decoding: value.utf8, as: UTF8.self)
  }
}
