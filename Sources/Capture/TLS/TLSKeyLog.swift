/// The secrets of a key log in the format of NSS, as SSLKEYLOGFILE and Decryption Secrets Blocks have it.
struct TLSKeyLog {
  /// What a secret is of: the labels that a line can begin with.
  enum Label: String, CaseIterable {
    case master = "CLIENT_RANDOM"
    case clientEarly = "CLIENT_EARLY_TRAFFIC_SECRET"
    case clientHandshake = "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
    case serverHandshake = "SERVER_HANDSHAKE_TRAFFIC_SECRET"
    case clientTraffic = "CLIENT_TRAFFIC_SECRET_0"
    case serverTraffic = "SERVER_TRAFFIC_SECRET_0"

    /// Whether a secret can have this many bytes: 48 of 1.2, and one hash of 1.3.
    fileprivate func allows(_ count: Int) -> Bool {
      self == .master ? count == 48 : count == 32 || count == 48
    }
  }

  private struct Key: Hashable {
    let label: Label
    let random: [UInt8]
  }

  /// More notes tell nothing new of a file that is no key log.
  static let mostNotes = 8
  /// No line of a key log is longer; what is, isn't kept while its end is awaited.
  private static let longestLine = 1_024

  private var secrets: [Key: [UInt8]] = [:]
  private var rest: [UInt8] = []
  private var isSkipping = false
  private var line = 0
  /// What is wrong with lines, with their place and remedy; never with a secret.
  private(set) var notes: [String] = []
  /// The lines that are wrong, also those beyond the notes.
  private(set) var wrongLines = 0

  /// How many secrets there are.
  var count: Int { secrets.count }

  /// Returns the secret of a connection; nil if the log has none.
  func secret(_ label: Label, of clientRandom: [UInt8]) -> [UInt8]? {
    secrets[Key(label: label, random: clientRandom)]
  }

  /// Reads what a file has grown by; a last line without its end waits for more.
  mutating func read(_ bytes: [UInt8], from file: String) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        endLine(of: file)
      } else if rest.count < Self.longestLine {
        rest.append(byte)
      } else {
        isSkipping = true
      }
    }
  }

  /// Reads the last line, where no more will come.
  mutating func finish(_ file: String) {
    if !rest.isEmpty { endLine(of: file) }
  }

  /// Begins with another file, or another block of a capture.
  mutating func beginFile() {
    rest.removeAll()
    isSkipping = false
    line = 0
  }

  /// Takes the last line for whole if it can be, though its end may still be to come.
  mutating func tryLastLine() {
    if case .secret(let key, let secret) = content { secrets[key] = secret }
  }

  /// What a line holds.
  private enum Content {
    /// A comment, or what is none of a record's business, as labels of exporters and of QUIC.
    case other
    case secret(Key, [UInt8])
    case wrong(Label)
  }

  private var content: Content {
    let text = rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest[...]
    let words = text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    guard let first = words.first,
      let label = Label(rawValue: String(decoding: first, as: UTF8.self))
    else { return .other }
    guard !isSkipping, words.count == 3, let random = Self.bytes(words[1]), random.count == 32,
      let secret = Self.bytes(words[2]), label.allows(secret.count)
    else { return .wrong(label) }
    return .secret(Key(label: label, random: random), secret)
  }

  private mutating func endLine(of file: String) {
    line += 1
    switch content {
    case .other: break
    case .secret(let key, let secret): secrets[key] = secret
    case .wrong(let label):
      wrongLines += 1
      if notes.count < Self.mostNotes {
        notes.append(
          "\(file), line \(line): \(label.rawValue) needs a random of 64 hexadecimal digits and "
            + "a secret of \(label == .master ? "96" : "64 or 96"); write the key log anew")
      }
    }
    rest.removeAll(keepingCapacity: true)
    isSkipping = false
  }

  /// Reads hexadecimal digits; nil for anything else.
  static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else {
        return nil
      }
      if let upper = high {
        result.append(upper << 4 | UInt8(truncatingIfNeeded: value))
        high = nil
      } else {
        high = UInt8(truncatingIfNeeded: value)
      }
    }
    return result
  }
}
