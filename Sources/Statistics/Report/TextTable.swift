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

  /// Whether a first cell that is too long is cut in its middle: names differ at their ends.
  var cutsMiddle = false
  /// What stands behind the first cell of a row, however long that is.
  private var marks: [Int: String] = [:]

  /// Adds a row.
  /// - Parameters:
  ///   - cells: A cell for every head.
  ///   - mark: What stands behind the first cell, and is not cut with it.
  mutating func add(_ cells: [String], mark: String = "") {
    if !mark.isEmpty { marks[rows.count] = mark }
    rows.append(cells)
  }

  /// The lines, with the heads painted; none without rows.
  func text(_ paint: Paint) -> String {
    guard !rows.isEmpty else { return "" }
    var widths = heads.indices.map { column in
      ([heads] + rows).enumerated().map { row, cells in
        cells[column].count + (column == 0 ? marks[row - 1]?.count ?? 0 : 0)
      }.max() ?? 0
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
      + rows.enumerated().map { line($1, widths, mark: marks[$0] ?? "") + "\n" }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int], mark: String = "") -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      let width = widths[column]
      let isText = column == 0 || (endsInText && column == cells.count - 1)
      let shown =
        column == 0
        ? shortened(cell, to: width - mark.count, inMiddle: cutsMiddle) + mark
        : isText ? shortened(cell, to: width, inMiddle: false) : cell
      let space = String(repeating: " ", count: max(0, width - shown.count))
      line += (column == 0 ? "" : "  ") + (isText ? shown + space : space + shown)
    }
    while line.last == " " { line.removeLast() }
    return line
  }

  private func shortened(_ text: String, to width: Int, inMiddle: Bool) -> String {
    guard text.count > width else { return text }
    let room = max(0, width - 1)
    guard inMiddle else { return text.prefix(room) + "…" }
    return text.prefix(room - room / 2) + "…" + text.suffix(room / 2)
  }
}
