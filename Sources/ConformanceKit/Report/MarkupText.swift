extension String {
  /// The text for XML and HTML, between elements and in quoted attributes; what neither may hold is replaced.
  var markup: String {
    var result = ""
    for scalar in ConformanceReport.printable(self).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      // XML 1.0 has no such characters, however they are written.
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
