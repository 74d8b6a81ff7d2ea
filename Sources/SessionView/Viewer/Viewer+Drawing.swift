extension Viewer {
  /// The fewest rows in which list and details are seen together.
  private static var splitHeight: Int { 10 }

  private var isSplit: Bool { size.height >= Self.splitHeight }

  /// The rows between the title and the last line.
  private var bodyHeight: Int { max(1, size.height - 2) }

  /// How many rows the list has.
  var listHeight: Int {
    guard hasDetails else { return bodyHeight }
    return isSplit ? max(3, bodyHeight * 2 / 5) : focus == .list ? bodyHeight : 1
  }

  /// How many rows the details have.
  var detailsHeight: Int { max(1, isSplit ? bodyHeight - listHeight - 1 : bodyHeight) }

  /// Draws what is to be seen.
  /// - Parameter model: What is looked at.
  /// - Returns: The screen.
  package mutating func draw(_ model: Model) -> Screen {
    var screen = Screen(size)
    screen.rows = [title(model)]
    switch focus {
    case .help: screen.rows += drawHelp()
    case .findings: screen.rows += drawFindings(model)
    case .list, .details: screen.rows += drawBody(model)
    }
    let missing = 1 + bodyHeight - screen.rows.count
    if missing > 0 { screen.rows += Array(repeating: StyledText("~", .quiet), count: missing) }
    screen.rows = Array(screen.rows.prefix(1 + bodyHeight))
    guard size.height > 1 else { return screen }
    drawLastLine(&screen)
    return screen
  }

  // MARK: Title and last line

  private func title(_ model: Model) -> StyledText {
    let count = count(model)
    var parts = ["\(count == 0 ? 0 : min(list.selected + 1, count))/\(count)"]
    if let frame = selected(model).flatMap({ model.frame(at: $0) }) {
      parts.append("frame \(frame)")
    }
    if model.findingCount > 0 {
      let untold =
        model.untoldFindings > 0 ? " of \(model.findingCount + model.untoldFindings)" : ""
      parts.append(
        model.findingCount == 1 ? "1 finding" : "\(model.findingCount)\(untold) findings")
    }
    if let progress = model.progress { parts.append(follows ? "\(progress), follows" : progress) }
    if let chosen { parts.append("& \(PageLine(chosen.text).text)") }
    let places = parts.joined(separator: "  ")
    let room = size.width - TextWidth.columns(of: places) - 4
    let name = Self.end(of: PageLine(model.name).text, columns: room)
    var title = StyledText(name.isEmpty ? " \(places)" : " \(name)  \(places)", .bar)
    title.rest = .bar
    return title
  }

  /// The end of a name that is too long: the names of folders matter less.
  private static func end(of name: String, columns: Int) -> String {
    guard TextWidth.columns(of: name) > columns else { return name }
    guard columns > 3 else { return "" }
    var rest = name[...]
    while TextWidth.columns(of: String(rest)) > columns - 1, !rest.isEmpty { rest.removeFirst() }
    return "…\(rest)"
  }

  private func drawLastLine(_ screen: inout Screen) {
    if let prompt {
      let (line, column) = Self.window(of: prompt, size.width)
      if let message {
        // What can be typed next stands above the line.
        screen.rows[screen.rows.count - 1] = StyledText(PageLine(message).text, .quiet)
      }
      screen.rows.append(StyledText(line))
      screen.cursor = (screen.rows.count - 1, column)
    } else if let message {
      screen.rows.append(StyledText(PageLine(message).text, .title))
    } else {
      var hints = StyledText(" " + self.hints, .bar)
      hints.rest = .bar
      screen.rows.append(hints)
    }
  }

  /// The part of a prompt that fits, and the column of its cursor.
  private static func window(of prompt: Prompt, _ width: Int) -> (line: String, column: Int) {
    let before = PageLine(prompt.before).text
    let all = PageLine(prompt.value).text
    let column = TextWidth.columns(of: before) + 1
    guard column >= width else { return (prompt.kind.rawValue + all, column) }
    var rest = before[...]
    while TextWidth.columns(of: String(rest)) > max(1, width - 3), !rest.isEmpty {
      rest.removeFirst()
    }
    return ("…\(rest)", min(width - 1, TextWidth.columns(of: String(rest)) + 1))
  }

  private var hints: String {
    switch focus {
    case .list:
      "q quit  Enter details  / search  & choose  F findings  ] next  c cause  h help"
    case .details: "q close  j k scroll  ↓ ↑ select  Tab list  c cause  ] finding  y copy  h help"
    case .findings: "q close  Enter to the event  c to the cause  h help"
    case .help: "q close  j k scroll"
    }
  }

  // MARK: The parts

  private mutating func drawBody(_ model: Model) -> [StyledText] {
    guard hasDetails else { return drawList(model) }
    if !isSplit { return focus == .list ? drawList(model) : drawDetails(model) }
    var rule = StyledText(focus == .details ? "── details " : "── details (Tab) ", .quiet)
    rule.append(String(repeating: "─", count: size.width), .quiet)
    return drawList(model) + [rule] + drawDetails(model)
  }

  private mutating func drawList(_ model: Model) -> [StyledText] {
    let count = count(model)
    let height = listHeight
    list.fit(height, of: count)
    var rows = (list.top..<min(list.top + height, count)).compactMap { row -> StyledText? in
      guard let thing = thing(row, model) else { return nil }
      let isSelected = row == list.selected
      var line = StyledText(isSelected ? ">" : " ")
      line.append(model.findings(at: thing).isEmpty ? " " : "!", .fault)
      line.append(model.row(at: thing), from: column)
      return isSelected ? line.reversed : line
    }
    let missing = height - rows.count
    if hasDetails, missing > 0 { rows += Array(repeating: StyledText(), count: missing) }
    return rows
  }

  private mutating func drawDetails(_ model: Model) -> [StyledText] {
    guard let thing = selected(model) else { return [] }
    if details?.index != thing || details?.width != size.width || details?.count != model.count {
      let lines = model.details(at: thing, width: size.width)
      details = (thing, model.count, size.width, wrap(lines))
    }
    let lines = details?.lines ?? []
    detailsTop = min(detailsTop, max(0, lines.count - detailsHeight))
    return lines.dropFirst(detailsTop).prefix(detailsHeight).map { StyledText($0) }
  }

  private func wrap(_ lines: [PageLine]) -> [PageLine] {
    lines.flatMap { line in
      TextWidth.wrap(line.text, to: size.width, indent: 4).map { part in
        var copy = line
        copy.text = part
        return copy
      }
    }
  }

  private mutating func drawFindings(_ model: Model) -> [StyledText] {
    findings.fit(bodyHeight, of: model.findingCount)
    return (findings.top..<min(findings.top + bodyHeight, model.findingCount)).map { place in
      var line = StyledText(place == findings.selected ? "> " : "  ")
      line.append(model.finding(at: place), from: 0)
      return place == findings.selected ? line.reversed : line
    }
  }

  private mutating func drawHelp() -> [StyledText] {
    let lines = help.flatMap { TextWidth.wrap(" \($0)", to: size.width, indent: Self.helpIndent) }
    helpTop = min(helpTop, max(0, lines.count - bodyHeight))
    return lines.dropFirst(helpTop).prefix(bodyHeight).map { StyledText($0) }
  }

  /// Where the text behind the keys begins.
  private static var helpIndent: Int { 15 }
}

extension StyledText {
  /// Creates a line of a page.
  init(_ line: PageLine) {
    let style: Style =
      switch line.style {
      case .title: .title
      case .plain: .plain
      case .fault: .fault
      case .quiet: .quiet
      }
    self.init(line.text, style)
  }

  /// Appends other text from a column on.
  mutating func append(_ other: StyledText, from column: Int) {
    var skipped = 0
    for span in other.spans {
      let scalars = span.text.unicodeScalars
      let rest = scalars.drop { scalar in
        guard skipped < column else { return false }
        skipped += TextWidth.columns(of: scalar) ?? 1
        return true
      }
      append(String(String.UnicodeScalarView(rest)), span.style)
    }
  }
}
