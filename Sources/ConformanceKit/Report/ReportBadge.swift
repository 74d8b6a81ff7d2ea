extension ReportDocument {
  /// A small picture (SVG) that says how many clauses failed and passed; what is undecided is neither.
  public var badge: String {
    let failed = count(.failed)
    let passed = count(.passed)
    var words: [String] = []
    if failed > 0 || failsOtherwise { words.append(failed > 0 ? "\(failed) failed" : "failed") }
    if passed > 0 { words.append("\(passed) passed") }
    let accepted = count(.accepted)
    if accepted > 0 { words.append("\(accepted) accepted") }
    if !unread.isEmpty { words.append("\(unread.count) not read") }
    let isBad = failed > 0 || failsOtherwise
    let color = isBad ? "#b3261e" : passed > 0 && unread.isEmpty ? "#116329" : "#57606a"
    let text = words.isEmpty ? "nothing judged" : words.joined(separator: ", ")
    // The letters of the font are about 6.6 units wide.
    let left = 88
    let right = text.count * 7 + 14
    let width = left + right
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="20" role="img" \
      aria-label="conformance: \(text)">
      <title>conformance: \(text)</title>
      <rect width="\(left)" height="20" fill="#24292f"/>
      <rect x="\(left)" width="\(right)" height="20" fill="\(color)"/>
      <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" \
      text-anchor="middle">
      <text x="\(left / 2)" y="14">conformance</text>
      <text x="\(left + right / 2)" y="14">\(text)</text>
      </g>
      </svg>

      """
  }
}
