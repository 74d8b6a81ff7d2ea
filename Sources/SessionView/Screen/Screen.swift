/// What a terminal shows: a line of styled text for each of its rows.
package struct Screen: Sendable, Hashable {
  /// How many columns and rows there are.
  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int

    /// Creates a size; there is at least one column and one row, and not more than a terminal can have.
    package init(width: Int, height: Int) {
      self.width = min(max(1, width), 1_000)
      self.height = min(max(1, height), 1_000)
    }
  }

  /// The size.
  package let size: Size
  /// The rows from above; there may be fewer.
  package var rows: [StyledText] = []
  /// Where the cursor is shown, from 0; nil where it is not.
  var cursor: (row: Int, column: Int)?

  /// Creates an empty screen.
  package init(_ size: Size) { self.size = size }

  /// Compares what is shown.
  package static func == (lhs: Screen, rhs: Screen) -> Bool {
    lhs.size == rhs.size && lhs.rows == rhs.rows && lhs.cursor?.row == rhs.cursor?.row
      && lhs.cursor?.column == rhs.cursor?.column
  }

  /// Hashes what is shown.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(size)
    hasher.combine(rows)
  }

  /// The rows as text without styles, as they are cut to fit.
  package var text: [String] {
    rows.prefix(size.height).map { row in
      var bytes: [UInt8] = []
      ScreenPainter.append(
        StyledText(row.plain), width: size.width, usesColor: false, usesStyles: false, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
