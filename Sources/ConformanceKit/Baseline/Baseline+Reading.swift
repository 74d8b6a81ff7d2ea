internal import RepriseCore

extension Baseline {
  /// Reads a baseline; where the last line of several was removed, the comma of the one before it may stay.
  /// - Parameters:
  ///   - bytes: What its file holds.
  ///   - file: The name of the file.
  /// - Throws: ``BaselineError`` with the line for what is no baseline.
  public init(reading bytes: [UInt8], file: String) throws(BaselineError) {
    let lines = LineCount(bytes)
    let root: JSONValue
    do throws(JSONSyntaxError) {
      root = try JSONValue.read(Self.withoutLastComma(bytes))
    } catch {
      throw BaselineError(file, line: lines.line(at: error.offset), error.message)
    }
    guard let version = root["reprise-baseline"] else {
      throw BaselineError(file, line: 1, "this is no baseline: it has no \"reprise-baseline\"")
    }
    guard version.integer == 1 else {
      throw BaselineError(file, line: 1, "version \(version) of baselines is not known")
    }
    guard let elements = root["accepted"]?.elements else {
      throw BaselineError(file, line: 1, "\"accepted\" is no list")
    }
    var entries: [Entry] = []
    // An entry without members has no place of its own: it is where the one before it is.
    var line = 1
    for element in elements {
      if case .object(let members) = element, let first = members.first {
        line = lines.line(at: first.offset)
      }
      entries.append(try Entry(element, file: file, line: line))
    }
    self.init(file: file, entries: entries)
  }

  /// Sees that each entry is of a clause that there is: one of none would match nothing for ever.
  /// - Parameter catalogue: The clauses.
  /// - Throws: ``BaselineError`` with the line of one that is not.
  public func check(against catalogue: Catalogue) throws(BaselineError) {
    let known = Set(catalogue.clauses.map(\.key.description))
    for entry in entries where !known.contains(entry.clause) {
      let spec = String(entry.clause.prefix { $0 != "/" })
      // What the SDK is held to has a catalogue of its own.
      guard spec != ClauseKey.step.spec else { continue }
      let missing =
        catalogue.specs.contains(spec) ? "clause \(entry.clause)" : "standard \(spec)"
      throw BaselineError(
        file, line: entry.line,
        "there is no \(missing)",
        remedy: "remove the entry, or correct it by reprise conform list")
    }
  }

  /// The bytes with a space in the place of a comma that nothing but the end of the list follows.
  private static func withoutLastComma(_ bytes: [UInt8]) -> [UInt8] {
    guard let end = bytes.lastIndex(of: UInt8(ascii: "]")) else { return bytes }
    let blank = " \t\r\n".utf8
    guard let last = bytes[..<end].lastIndex(where: { !blank.contains($0) }),
      bytes[last] == UInt8(ascii: ",")
    else { return bytes }
    var bytes = bytes
    bytes[last] = UInt8(ascii: " ")
    return bytes
  }
}

extension Baseline.Entry {
  private static let keys = [
    "clause", "subject", "fingerprint", "message", "reason", "owner", "expires", "files",
  ]

  fileprivate init(_ value: JSONValue, file: String, line: Int) throws(BaselineError) {
    if case .object(let members) = value,
      let strange = members.first(where: { !Self.keys.contains($0.key) })
    {
      // Misspelt, a date would never come.
      throw BaselineError(
        file, line: line,
        "an entry has \"\(strange.key)\", which is none of \(Self.keys.joined(separator: ", "))")
    }
    func text(_ key: String) throws(BaselineError) -> String? {
      guard let member = value[key] else { return nil }
      guard let text = member.text else {
        throw BaselineError(file, line: line, "\"\(key)\" is no text")
      }
      return text
    }
    func needed(_ key: String) throws(BaselineError) -> String {
      guard let text = try text(key) else {
        throw BaselineError(file, line: line, "an entry has no \"\(key)\"")
      }
      return text
    }
    clause = try needed("clause")
    subject = try needed("subject")
    guard let fingerprint = Fingerprint(try needed("fingerprint")) else {
      throw BaselineError(file, line: line, "\"fingerprint\" is not sixteen hexadecimal digits")
    }
    self.fingerprint = fingerprint
    message = try text("message") ?? ""
    reason = try needed("reason")
    owner = try text("owner")
    expires = try text("expires")
    if let expires, Timestamp(expires + "T00:00:00Z") == nil {
      throw BaselineError(
        file, line: line, "\"expires\" is \"\(expires)\", and no date such as 2027-01-31")
    }
    let names = value["files"]?.elements?.map(\.text)
    guard value["files"] == nil || names?.contains(nil) == false else {
      throw BaselineError(file, line: line, "\"files\" is no list of names")
    }
    files = names?.compactMap { $0 } ?? []
    self.line = line
  }
}

/// Why a file is no baseline.
public struct BaselineError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, the line, and what is wrong there, with what to do.
  public let description: String

  init(_ file: String, line: Int, _ message: String, remedy: String? = nil) {
    let remedy = remedy ?? "name a file that --write-baseline made, or mend this one"
    description = "\(file): line \(line): \(message); \(remedy)"
  }
}

/// Finds lines by places in a text.
private struct LineCount {
  private var feeds: [Int]

  init(_ bytes: [UInt8]) { feeds = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } }

  /// The number of the line that a byte stands on, from 1.
  func line(at offset: Int) -> Int { feeds.count { $0 < offset } + 1 }
}
