/// ANSI colours for text that a terminal shows, or none.
package struct Paint: Sendable {
  /// Whether there are colours.
  let isOn: Bool

  /// Chooses whether text is painted.
  /// - Parameter isOn: Whether there are colours.
  package init(isOn: Bool) { self.isOn = isOn }

  /// What text is, with the parameter of the escape that shows it.
  package enum Style: String, Sendable {
    case heading = "1"
    case quiet = "2"
    case fault = "31"
    case good = "32"
    case doubt = "33"
  }

  /// Returns text as a terminal shows it.
  /// - Parameters:
  ///   - style: What it is.
  ///   - text: The text, without the end of its line.
  /// - Returns: The text between two escapes, or as it is.
  package func callAsFunction(_ style: Style, _ text: String) -> String {
    isOn ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Returns text with its headings painted: lines between others that end with a colon, and the word before a usage.
  /// - Parameter text: Lines as those of the help.
  /// - Returns: The same lines.
  package func headings(in text: String) -> String {
    guard isOn else { return text }
    var isFirst = true
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      defer { isFirst = line.isEmpty }
      if line.hasPrefix("Usage:") { return self(.heading, "Usage:") + line.dropFirst(6) }
      let isHeading = isFirst && line.hasSuffix(":") && line.first != " "
      return isHeading ? self(.heading, String(line)) : String(line)
    }.joined(separator: "\n")
  }

  /// Returns a list with what it lists painted: of each line what stands in front of the first two spaces.
  /// - Parameter text: Lines of columns.
  /// - Returns: The same lines.
  package func names(in text: String) -> String {
    guard isOn else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard let gap = line.firstRange(of: "  "), gap.lowerBound > line.startIndex else {
        return String(line)
      }
      return self(.heading, String(line[..<gap.lowerBound])) + line[gap.lowerBound...]
    }.joined(separator: "\n")
  }
}
