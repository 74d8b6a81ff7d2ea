/// Makes the bytes that let a terminal show a screen.
///
/// It writes whole rows, those alone that differ from what is there, by sequences of ECMA-48 that every terminal since
/// the VT220 knows, and the alternate screen of xterm. So it needs neither a library nor a database of terminals, which
/// one file that runs anywhere would not find; what it can't do without them is a terminal without such sequences
/// (`TERM=dumb`), and scrolling by hardware.
package struct ScreenPainter: Sendable {
  /// Whether colours are used; bold, dim and reversed text is, in any case.
  private let usesColor: Bool
  private var shown: [[UInt8]] = []
  private var size: Screen.Size?

  /// The most marks that may stand on a character; more would be painted over other rows.
  private static let mostMarks = 2

  /// Creates a painter of a screen of which nothing is known.
  package init(usesColor: Bool) { self.usesColor = usesColor }

  /// Forgets what is there: all of it is painted next.
  package mutating func forget() { size = nil }

  /// Paints a screen.
  /// - Parameter screen: What is to be seen.
  /// - Returns: The bytes for the terminal.
  package mutating func paint(_ screen: Screen) -> [UInt8] {
    var bytes: [UInt8] = Array("\u{1B}[?25l".utf8)
    if size != screen.size {
      size = screen.size
      bytes += Array("\u{1B}[0m\u{1B}[2J".utf8)
      shown = Array(repeating: [], count: screen.size.height)
    }
    for row in 0..<screen.size.height {
      var line: [UInt8] = []
      if screen.rows.indices.contains(row) {
        Self.append(
          screen.rows[row], width: screen.size.width, usesColor: usesColor, to: &line)
      }
      guard shown[row] != line else { continue }
      shown[row] = line
      // Erased before it is written: behind a full row the cursor stands on the last character, which would be erased.
      bytes += Array("\u{1B}[\(row + 1);1H\u{1B}[0m\u{1B}[K".utf8) + line
      bytes += Array("\u{1B}[0m".utf8)
    }
    if let cursor = screen.cursor {
      bytes += Array("\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h".utf8)
    }
    return bytes
  }

  /// Appends a line, cut to a width; what has no width is shown as U+FFFD, so that all columns stay in their places.
  static func append(
    _ text: StyledText, width: Int, usesColor: Bool, usesStyles: Bool = true,
    to bytes: inout [UInt8]
  ) {
    var column = 0
    var marks = mostMarks
    for span in text.spans {
      if usesStyles { append(span.style, usesColor: usesColor, to: &bytes) }
      for scalar in span.text.unicodeScalars {
        let columns = TextWidth.columns(of: scalar)
        if columns == 0 {
          guard marks < mostMarks else { continue }
          marks += 1
        } else {
          guard column + (columns ?? 1) <= width else {
            column = width
            break
          }
          column += columns ?? 1
          marks = 0
        }
        bytes += Array(String(Character(columns == nil ? "\u{FFFD}" : scalar)).utf8)
      }
    }
    guard usesStyles, text.rest != .plain else { return }
    append(text.rest, usesColor: usesColor, to: &bytes)
    bytes += repeatElement(UInt8(ascii: " "), count: max(0, width - column))
  }

  private static func append(
    _ style: StyledText.Style, usesColor: Bool, to bytes: inout [UInt8]
  ) {
    var codes = ["0"]
    if style.isBold { codes.append("1") }
    if style.isDim { codes.append("2") }
    if style.isReversed { codes.append("7") }
    if usesColor, let color = style.color { codes.append("\(color.rawValue)") }
    bytes += Array("\u{1B}[\(codes.joined(separator: ";"))m".utf8)
  }
}
