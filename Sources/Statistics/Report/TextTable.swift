internal import RepriseCore

/// A table for a terminal of 80 columns: the first column at the left and as wide as there is room, numbers at the right.
struct TextTable {
  /// The columns of a terminal.
  static let width = 80
  /// The least columns of a name, and the most of a text at the end where the others leave no more.
  private static let narrowest = 12
  private static let widestEnd = 28

  /// The heads of the columns.
  let heads: [String]
  /// The rows, each with a cell for every head.
  private(set) var rows: [[String]] = []
  /// Whether the last column is text.
  var endsInText = false

  init(_ heads: [String], endsInText: Bool = false) {
    self.heads = heads
    self.endsInText = endsInText
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The lines, with the heads painted; none without rows.
  func text(_ paint: Paint) -> String {
    guard !rows.isEmpty else { return "" }
    var widths = heads.indices.map { column in
      ([heads] + rows).map { $0[column].count }.max() ?? 0
    }
    if endsInText, let last = widths.indices.last {
      let others = widths.dropLast().reduce(0) { $0 + $1 + 2 }
      widths[last] = min(widths[last], max(Self.widestEnd, Self.width - others))
    }
    let rest = widths.dropFirst().reduce(0) { $0 + $1 + 2 }
    if let first = widths.first, first + rest > Self.width {
      widths[0] = max(min(Self.narrowest, first), Self.width - rest)
    }
    return paint(.heading, line(heads, widths)) + "\n"
      + rows.map { line($0, widths) + "\n" }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let width = widths[column]
      let isText = column == 0 || (endsInText && column == cells.count - 1)
      let shown = isText ? Self.shortened(cell, to: width) : cell
      let space = String(repeating: " ", count: max(0, width - shown.count))
      line += (column == 0 ? "" : "  ") + (isText ? shown + space : space + shown)
    }
    while line.last == " " { line.removeLast() }
    return line
  }

  private static func shortened(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
  }
}
