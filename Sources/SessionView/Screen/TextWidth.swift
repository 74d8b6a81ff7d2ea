/// How many columns of a terminal characters take.
///
/// `wcwidth` of a C library tells the same, where a locale was set that has them; this needs none, and is the same on
/// every system.
package enum TextWidth {
  /// The blocks whose characters are wide (Unicode's East Asian Width, W and F).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF,
    0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
    0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]

  /// The columns of a character: 0 for a mark that stands on the one before; nil for what has no width.
  package static func columns(of scalar: UnicodeScalar) -> Int? {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? nil : 1 }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: return nil
    case .nonspacingMark, .enclosingMark: return 0
    case .format: return scalar.value == 0xAD ? 1 : 0
    default: break
    }
    // The vowels and ends of Hangul's syllables join the letter before.
    if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FB).contains(scalar.value) {
      return 0
    }
    let isWide =
      properties.isEmojiPresentation && !(0x1F1E6...0x1F1FF).contains(scalar.value)
      || wide.contains { $0.contains(scalar.value) }
    return isWide ? 2 : 1
  }

  /// The columns of a text.
  package static func columns(of text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + (columns(of: $1) ?? 1) }
  }

  /// Cuts a text into lines that fit.
  /// - Parameters:
  ///   - text: The text, without ends of lines.
  ///   - width: How many columns a line has.
  ///   - indent: How many spaces stand before every line but the first.
  /// - Returns: The lines, at least one.
  package static func wrap(_ text: String, to width: Int, indent: Int = 0) -> [String] {
    let width = max(4, width)
    let indent = min(max(0, indent), width / 2)
    var lines: [String] = []
    var line = String.UnicodeScalarView()
    var used = 0
    for scalar in text.unicodeScalars {
      let columns = columns(of: scalar) ?? 1
      if used + columns > width {
        lines.append(String(line))
        line = String.UnicodeScalarView(repeatElement(" ", count: indent))
        used = indent
      }
      line.append(scalar)
      used += columns
    }
    return lines + [String(line)]
  }
}
