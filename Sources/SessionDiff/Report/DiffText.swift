import RepriseCore

/// Tells what differs between two sessions, for people.
package struct DiffText {
  private let paint: Paint
  private var text = ""
  /// As wide as a time and a frame.
  private static let noPlace = String(repeating: " ", count: 25)

  /// Prepares to tell.
  /// - Parameter usesColor: Whether lines are coloured.
  package init(usesColor: Bool) { paint = Paint(isOn: usesColor) }

  /// Returns what differs, a line for each thing with a mark, and a last line that sums it up.
  /// - Parameters:
  ///   - comparison: What differs.
  ///   - a: The name of the first file.
  ///   - b: The name of the second file.
  /// - Returns: The lines.
  package mutating func text(
    of comparison: SessionComparison, _ a: String, _ b: String
  ) -> String {
    text = ""
    if !comparison.connections.isEmpty {
      add(paint(.fault, "--- A: \(Self.safe(a))"))
      add(paint(.good, "+++ B: \(Self.safe(b))"))
    }
    for connection in comparison.connections { tell(connection) }
    add(Self.summary(of: comparison))
    return text
  }

  private mutating func add(_ line: String) { text += line + "\n" }

  // MARK: Connections

  private mutating func tell(_ connection: ConnectionDifferences) {
    switch (connection.a, connection.b) {
    case (let side?, nil) where connection.mayBeInBoth: tell(side, unknownIn: "B", "A")
    case (nil, let side?) where connection.mayBeInBoth: tell(side, unknownIn: "A", "B")
    case (let a?, nil): add(paint(.fault, Self.line(of: a, onlyIn: "A", mark: "-")))
    case (nil, let b?): add(paint(.good, Self.line(of: b, onlyIn: "B", mark: "+")))
    case (let a?, let b?): tell(connection, a, b)
    case (nil, nil): return
    }
  }

  private mutating func tell(
    _ side: ConnectionDifferences.Side, unknownIn other: String, _ name: String
  ) {
    add(paint(.doubt, Self.line(of: side, onlyIn: name, mark: "?")))
    add(paint(.quiet, "    ? may be on both sides: \(other) is cut, or lacks frames"))
  }

  private static func line(
    of side: ConnectionDifferences.Side, onlyIn name: String, mark: String
  ) -> String {
    let events = side.items == 1 ? "1 event" : "\(side.items) events"
    return "\(mark) connection \(side.number)  \(Self.name(of: side))  only in \(name): \(events), "
      + "from frame \(side.frame) on"
  }

  private mutating func tell(
    _ connection: ConnectionDifferences, _ a: ConnectionDifferences.Side,
    _ b: ConnectionDifferences.Side
  ) {
    let names =
      a.clientID == b.clientID
      ? Self.name(of: a)
      : "\(Self.name(of: a)) ↔ \(b.clientID.map { "\"\(Self.safe($0))\"" } ?? "(no name)")"
    add(paint(.heading, "connection \(a.number) ↔ \(b.number)  \(names)"))
    var told: Set<Int> = []
    for difference in connection.differences {
      if let before = difference.context?.a, difference.asked == nil,
        told.insert(before.frame).inserted
      {
        add("    " + paint(.quiet, Self.line(of: before)))
      }
      tell(difference)
      if let frame = difference.a?.frame { told.insert(frame) }
    }
    for loss in connection.losses where !loss.line.hasPrefix("OPEN") {
      add("  " + paint(.doubt, "! " + Self.line(of: loss)))
    }
    for utterance in connection.unknown {
      add("  " + paint(.doubt, "? " + Self.line(of: utterance)))
    }
    if !connection.unknown.isEmpty {
      add(paint(.quiet, "    ? may be on both sides: bytes are missing where it would stand"))
    }
    if connection.isRough {
      add(paint(.quiet, "    very much differs here; another look may pair it better: --filter"))
    }
    if connection.isCut {
      add(paint(.quiet, "    more differs here than memory has room for: --memory or --filter"))
    }
  }

  private static func name(of side: ConnectionDifferences.Side) -> String {
    side.wire + (side.clientID.map { "  client \"\(safe($0))\"" } ?? "")
  }

  // MARK: Differences

  private mutating func tell(_ difference: Difference) {
    switch difference.kind {
    case .onlyA: add("  " + paint(.fault, "- " + Self.line(of: difference.a)))
    case .onlyB: add("  " + paint(.good, "+ " + Self.line(of: difference.b)))
    case .changed, .moved: add("  " + paint(.doubt, "~ " + Self.line(of: difference.a)))
    }
    if let b = difference.b, difference.a != nil {
      let fields = difference.fields.map(Self.line)
      let lines = difference.kind == .moved ? ["comes at another place"] : fields
      for (index, line) in lines.enumerated() {
        add("    " + (index == 0 ? Self.place(of: b) : Self.noPlace) + "   " + line)
      }
    }
    if let asked = difference.asked {
      add("    " + Self.noPlace + paint(.quiet, "   answers frame \(asked.frame): \(asked.line)"))
    }
  }

  private static func line(of utterance: Utterance?) -> String {
    guard let utterance else { return "" }
    return place(of: utterance) + (utterance.sender == .client ? " → " : " ← ") + utterance.line
  }

  private static func place(of utterance: Utterance) -> String {
    let time = utterance.time.description.split(separator: "T").last?.prefix { $0 != "Z" } ?? ""
    let frame = String(utterance.frame)
    let width = max(1, 25 - time.count - frame.count)
    return time + String(repeating: " ", count: width) + frame
  }

  private static func line(of field: FieldDifference) -> String {
    "\(safe(field.place)): \(shown(field.a)) → \(shown(field.b))"
  }

  private static func shown(_ value: JSONValue?) -> String {
    guard let value else { return "(none)" }
    let text = value.description
    return safe(text.count > 200 ? text.prefix(200) + "…" : text)
  }

  /// Text of a file, which must not steer the terminal.
  private static func safe(_ text: String) -> String {
    var bytes: [UInt8] = []
    let characters = Array(text.utf8)
    TerminalText.append(characters.span.bytes, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: The last line

  private static func summary(of comparison: SessionComparison) -> String {
    let connections = counted(comparison.count, "connection")
    let unknown = unknownParts(of: comparison)
    guard !comparison.isSame else { return "no difference on \(connections)\(unknown)" }
    let totals = comparison.totals
    let differing = comparison.connections.count {
      $0.isOneSided && !$0.mayBeInBoth || !$0.differences.isEmpty || $0.isCut
    }
    let kinds: [(Difference.Kind, String)] = [
      (.changed, "changed"), (.moved, "moved"), (.onlyA, "only in A"), (.onlyB, "only in B"),
    ]
    let parts =
      kinds.compactMap { kind, words in
        totals[kind].flatMap { $0 > 0 ? "\($0) \(words)" : nil }
      }
      + [
        lacking(comparison.unmatched.a, "A"), lacking(comparison.unmatched.b, "B"),
        comparison.connections.contains(where: \.isCut) ? "more than is told" : nil,
      ].compactMap(\.self)
    return "\(differing) of \(connections) \(differing == 1 ? "differs" : "differ"): "
      + parts.joined(separator: ", ") + unknown
  }

  /// What could not be compared; empty where all could.
  private static func unknownParts(of comparison: SessionComparison) -> String {
    let parts = [
      comparison.unknown == 0 ? nil : counted(comparison.unknown, "event"),
      comparison.unknownConnections == 0
        ? nil : counted(comparison.unknownConnections, "connection"),
    ].compactMap(\.self)
    guard !parts.isEmpty else { return "" }
    return "; \(parts.joined(separator: " and ")) could not be compared, as bytes are missing"
  }

  private static func lacking(_ count: Int, _ name: String) -> String? {
    count == 0 ? nil : "\(counted(count, "connection")) only in \(name)"
  }

  private static func counted(_ count: Int, _ word: String) -> String {
    count == 1 ? "1 \(word)" : "\(count) \(word)s"
  }
}
