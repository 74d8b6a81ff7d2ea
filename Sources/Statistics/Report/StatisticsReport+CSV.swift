extension StatisticsReport {
  /// The columns between the name of a figure and its value: what it is about.
  private static let columns = [
    "from", "protocol", "type", "qos", "client", "topic", "exchange", "quantile", "cause", "by",
    "code", "event", "problem",
  ]

  /// All figures as one table of CSV (RFC 4180), with a head.
  ///
  /// The columns are `measure`, what the figure is about (empty where it is not about such a thing), and `value`; the
  /// unit is the end of the measure's name. A cell that begins as a formula of a spreadsheet does (`=`, `+`, `-`, `@`)
  /// has `'` in front of it.
  package var csv: String {
    var text = Self.row(["measure"] + Self.columns + ["value"])
    for figure in figures {
      let cells = Self.columns.map { column in
        figure.labels.first { $0.name == column }?.value ?? ""
      }
      text += Self.row([figure.family + figure.suffix] + cells + [figure.value])
    }
    return text
  }

  private static func row(_ cells: [String]) -> String {
    cells.map(quoted).joined(separator: ",") + "\r\n"
  }

  private static func quoted(_ cell: String) -> String {
    let isFormula = cell.first.map { "=+-@".contains($0) } ?? false
    let text = isFormula ? "'" + cell : cell
    let needsQuotes = text.utf8.contains { byte in
      [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D].contains(byte)
    }
    guard needsQuotes else { return text }
    let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + parts.joined(separator: "\"\"") + "\""
  }
}
