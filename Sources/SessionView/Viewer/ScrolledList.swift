/// Which row of a list is selected, and which one is the first to be seen.
struct ScrolledList: Sendable {
  /// The selected row.
  private(set) var selected = 0
  /// The first row that is seen.
  private(set) var top = 0

  /// Selects a row.
  mutating func select(_ row: Int, of count: Int) {
    selected = min(max(0, row), max(0, count - 1))
  }

  /// Selects a row that is some rows further.
  mutating func move(by rows: Int, of count: Int) {
    let (sum, isOver) = selected.addingReportingOverflow(rows)
    select(isOver ? (rows > 0 ? .max : 0) : sum, of: count)
  }

  /// Scrolls so that the selected row is seen.
  mutating func fit(_ height: Int, of count: Int) {
    let height = max(1, height)
    select(selected, of: count)
    if selected < top { top = selected }
    if selected - top >= height { top = selected - height + 1 }
    top = min(max(0, top), max(0, count - height))
  }
}
