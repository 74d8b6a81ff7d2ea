/// What keys do, for users.
package enum ViewerHelp {
  /// The lines that `h` shows, and the help of the command has in it.
  package static let text = """
    j k ↓ ↑       one down, one up
    space b       a page down, up (PgDn PgUp); d u half of one
    g G           to the start; to the end, and on with what comes (Home End)
    ← →           the list to the left, to the right
    Enter         opens the details: fields, answers, findings, states, bytes
    Tab           between list and details; there ↓ ↑ select, j k scroll
    / ?           searches down, up; n N again, the other way
    &             chooses by an expression (Tab), --sdk by a text; empty shows all
    : NUMBER      to a frame, or a line of a recording
    F             the findings; Enter goes to one, c to its cause
    ] [           to the next finding, to the one before
    c             to what it answers, what answers it, or its finding rests on
    '             back to where the last jump came from
    y             copies the command that shows this again
    Ctrl-L        paints anew; Ctrl-Z suspends
    h             this help
    q             closes what is open, or ends
    """

  static var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// The lines for a longer text, each behind some spaces.
  package static func indented(by count: Int) -> String {
    lines.map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
  }
}
