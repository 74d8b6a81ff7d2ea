extension Catalogue {
  /// Returns a table of clauses: identifier, level, status, scope and summary.
  /// - Parameters:
  ///   - specs: The standards; nil is all of them.
  ///   - section: A section, with or without its standard; nil is all of them.
  /// - Returns: One line a clause, with its standard where its identifier alone says too little, and a line of totals;
  ///   empty when nothing fits.
  public func listing(specs: Set<String>? = nil, section: String? = nil) -> String {
    let known = specs.map { $0.intersection(self.specs) }
    // What does not exist is an empty table here; running clauses that do not exist is an error.
    let rows = (try? select(specs: known, section.map { [$0] } ?? [])) ?? []
    guard !rows.isEmpty else { return "" }
    // Two versions may have one identifier for different clauses.
    let counts = Dictionary(rows.map { ($0.id, 1) }, uniquingKeysWith: +)
    let names = rows.map { counts[$0.id] == 1 ? $0.id : "\($0.spec)/\($0.id)" }
    let width = names.map(\.utf8.count).max() ?? 0
    var text: [UInt8] = []
    for (clause, name) in zip(rows, names) {
      text.append(name, upTo: width)
      text.append(clause.level.rawValue, upTo: 6)
      text.append(clause.status.rawValue, upTo: 12)
      text.append(clause.scope.rawValue, upTo: 10)
      text.append(contentsOf: clause.summary.utf8)
      text.append(0x0A)
    }
    let checked = rows.count { $0.status.isChecked }
    return String(decoding: text, as: UTF8.self)
      + "\(checked) of \(rows.count) clauses checked\n"
  }

  /// Returns what there is to say about a clause, or which clauses a section has.
  /// - Parameter selector: Its identifier, or a section, as ``select(specs:_:)`` takes them.
  /// - Returns: What it says, who must keep it, how it is checked, and when it is inconclusive; of a section with
  ///   several clauses their list.
  /// - Throws: ``ConformanceError`` when there is no such clause or section, with the nearest that there are.
  public func explanation(of selector: String) throws(ConformanceError) -> String {
    let chosen = try select(specs: nil, [selector])
    // Two versions may have one identifier for what is mostly the same.
    guard Set(chosen.map(\.id)).count == 1 else { return listing(section: selector) }
    return chosen.map { explanation(of: $0) }.joined(separator: "\n")
  }

  private func explanation(of clause: Clause) -> String {
    var text = "\(clause.id)  (\(clause.spec), section \(clause.section))\n\n"
    text += clause.summary.wrapped(indent: 2) + "\n\n"
    func row(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      text += name.padded(to: 14) + value.wrapped(indent: 14).drop { $0 == " " } + "\n"
    }
    row("level", clause.level.rawValue)
    row("actor", clause.actor == .both ? "client and server" : clause.actor.rawValue)
    row("scope", clause.scope.rawValue)
    row("status", clause.status.explanation)
    // How what is not checked yet is to be checked may be known.
    let isOpen = clause.status == .planned || clause.status == .active
    row(isOpen ? "to be checked" : "how checked", clause.check)
    row("inconclusive", clause.inconclusive.map { (isOpen ? "" : Self.always(of: clause)) + $0 })
    // What never fails has no violation to be found, whatever its example shows.
    row("never fails", clause.neverFails)
    row(clause.neverFails == nil ? "violation" : "example", clause.example)
    row("same detector", clause.aliases?.joined(separator: ", "))
    row("note", clause.note)
    row("printed as", clause.printedAs)
    return text
  }

  /// When a clause is never decided, whatever its rule says.
  private static func always(of clause: Clause) -> String {
    if clause.spec == "rfc6455" { return "Always in a recording that a client made of itself. " }
    // All versions ask for it.
    if MQTTRule.firstIsConnect.clauses.contains(clause.id) { return "" }
    return "Always when the version is inferred, the CONNECT not being captured. "
  }
}

extension Clause.Status {
  /// Whether a run of this suite can come to a verdict.
  var isChecked: Bool {
    switch self {
    case .checked, .reactive, .driven: true
    case .tested, .planned, .active, .unobservable: false
    }
  }

  /// Whether a rule judges it from what was on the wire.
  var hasRule: Bool { self == .checked || self == .reactive }

  /// The status in words.
  var explanation: String {
    switch self {
    case .checked: "checked on captures and recordings"
    case .driven: "checked by scenarios, see reprise conform sdk"
    case .tested: "checked by unit tests of the SDK only"
    case .planned: "planned: traffic would tell, but there is no rule yet"
    case .reactive: "checked where a capture holds the provocation; a driver has to make sure of it"
    case .active: "active: a driver has to provoke it"
    case .unobservable: "unobservable: nothing on the wire can tell"
    }
  }
}

extension [UInt8] {
  /// Appends a word of ASCII, with blanks behind it up to a width, and two more.
  fileprivate mutating func append(_ word: String, upTo width: Int) {
    append(contentsOf: word.utf8)
    append(contentsOf: repeatElement(0x20, count: Swift.max(0, width - word.utf8.count) + 2))
  }
}

extension String {
  /// Returns the text with blanks behind it up to a width.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// Returns the text in lines of at most 100 characters, each behind an indentation.
  func wrapped(indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > 100 {
        lines.append(margin + line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty { lines.append(margin + line) }
    return lines.joined(separator: "\n")
  }
}
