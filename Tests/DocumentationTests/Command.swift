/// A command as an article shows it, and what is seen behind it.
struct Command: Equatable {
  /// What is typed, with all lines that it goes on in.
  var typed: String
  /// What is printed; a line of three dots stands for any number of lines, and in a line they stand for any text.
  var printed: [String] = []

  /// The commands of a block: behind `$ `, or `> ` where they go on.
  /// - Throws: ``Article/Failure`` when the block does not begin with one.
  static func all(in lines: [String], of place: String) throws -> [Command] {
    var commands: [Command] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        commands.append(Command(typed: String(line.dropFirst(2))))
      } else if let last = commands.indices.last, line.hasPrefix("> "),
        commands[last].printed.isEmpty
      {
        commands[last].typed += "\n" + line.dropFirst(2)
      } else if let last = commands.indices.last {
        commands[last].printed.append(line)
      } else {
        throw Article.Failure(description: "\(place): a block of the console begins with a command")
      }
    }
    return commands
  }

  /// Whether an output is what the article shows.
  /// - Parameters:
  ///   - output: What was printed.
  ///   - isLive: Whether it differs from run to run, in times and ports, as that of a live broker does.
  /// - Returns: Whether it is.
  func shows(_ output: String, isLive: Bool = false) -> Bool {
    func lines(_ lines: [Substring]) -> [String] {
      var lines = lines.map { isLive ? Self.plain($0) : String($0) }
      lines = lines.map { $0.replacing(/\s+$/, with: "") }
      while lines.last == "" { lines.removeLast() }
      return lines
    }
    let seen = lines(output.split(separator: "\n", omittingEmptySubsequences: false))
    return Self.fits(lines(printed.map { $0[...] })[...], seen[...])
  }

  private static func fits(_ shown: ArraySlice<String>, _ seen: ArraySlice<String>) -> Bool {
    guard let first = shown.first else { return seen.isEmpty }
    if first == "..." {
      let rest = shown.dropFirst()
      return (seen.startIndex...seen.endIndex).contains { fits(rest, seen[$0...]) }
    }
    guard let line = seen.first, fits(first, line) else { return false }
    return fits(shown.dropFirst(), seen.dropFirst())
  }

  /// Whether a line is one that is shown, whose dots stand for any text.
  private static func fits(_ shown: String, _ seen: String) -> Bool {
    let pieces = shown.split(separator: "...", omittingEmptySubsequences: false)
    guard pieces.count > 1 else { return shown == seen }
    guard let first = pieces.first, let last = pieces.last, seen.hasPrefix(first) else {
      return false
    }
    var rest = seen.dropFirst(first.count)
    for piece in pieces.dropFirst().dropLast() {
      guard let place = rest.firstRange(of: piece) else { return false }
      rest = rest[place.upperBound...]
    }
    return rest.hasSuffix(last)
  }

  /// A line without what is another each time: days, times, how long something took, ports that the system chose, and
  /// the frame of an event, as a busy system puts two packets into one segment.
  private static func plain(_ line: Substring) -> String {
    String(line).replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}/, with: "DAY")
      .replacing(/[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/, with: "TIME")
      .replacing(/^TIME +[0-9]+(?= +#[0-9]+ )/, with: "TIME FRAME")
      .replacing(/[0-9]+(\.[0-9]+)? (µs|ms|s|seconds)\b/, with: "LONG")
      .replacing(/:[0-9]{5}\b/, with: ":PORT")
  }
}
