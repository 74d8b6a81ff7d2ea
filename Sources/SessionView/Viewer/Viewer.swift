import RepriseCore

/// What a user sees of a list of things that happened, and what keys do: a machine without a terminal.
///
/// Keys are those of less and tig. The model is handed to each call, as it may grow between them.
package struct Viewer<Model: ViewedModel> {
  /// What a key asks of the one who has the terminal.
  package enum Effect: Sendable, Hashable {
    /// End.
    case quit
    /// Put a text where the user can paste it from.
    case copy(String)
    /// Paint everything anew.
    case repaint
  }

  /// Where keys go.
  enum Focus: Sendable {
    case list, details, findings, help
  }

  /// What is chosen of the things.
  struct Chosen {
    var text: String
    var choice: Model.Choice
    /// The places of those that are.
    var places: [Int] = []
    /// How many were asked for.
    var asked = 0
  }

  var size: Screen.Size
  var focus = Focus.list
  var hasDetails = false
  var list = ScrolledList()
  var findings = ScrolledList()
  var detailsTop = 0
  var helpTop = 0
  /// The first column of the list that is seen.
  var column = 0
  var chosen: Chosen?
  var prompt: Prompt?
  var search: (text: String, isBackward: Bool)?
  /// What is told in the last line until the next key.
  var message: String?
  /// Whether the list stays at its end when it grows.
  var follows = false
  /// Where a jump came from.
  var before: [Int] = []
  /// The details that were made last.
  var details: (index: Int, count: Int, width: Int, lines: [PageLine])?
  let help: [String]

  /// Creates a viewer.
  /// - Parameters:
  ///   - size: The size of the terminal.
  ///   - follows: Whether it begins at the end, and stays there.
  package init(_ size: Screen.Size, follows: Bool = false) {
    self.size = size
    self.follows = follows
    help = ViewerHelp.lines
  }

  /// Takes the news of another size.
  package mutating func resize(_ size: Screen.Size) { self.size = size }

  /// Takes the news that the model may have grown.
  package mutating func refresh(_ model: Model) {
    choose(from: model)
    if follows { list.select(.max, of: count(model)) }
  }

  // MARK: The list

  /// How many things are listed.
  func count(_ model: Model) -> Int { chosen?.places.count ?? model.count }

  /// The thing in a row of the list.
  func thing(_ row: Int, _ model: Model) -> Int? {
    if let chosen { return chosen.places.indices.contains(row) ? chosen.places[row] : nil }
    return (0..<model.count).contains(row) ? row : nil
  }

  /// The thing that is selected.
  package func selected(_ model: Model) -> Int? { thing(list.selected, model) }

  /// The row of a thing; of one that is not listed that of the next one.
  func row(of thing: Int) -> Int {
    guard let chosen else { return thing }
    var (low, high) = (0, chosen.places.count)
    while low < high {
      let middle = (low + high) / 2
      if chosen.places[middle] < thing { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Selects a thing, and remembers where that came from.
  mutating func jump(to thing: Int, _ model: Model) {
    let row = row(of: thing)
    guard self.thing(row, model) == thing else {
      let place = model.frame(at: thing).map { "frame \($0)" } ?? "it"
      message = "\(place) is not among what is chosen; & and Enter shows all"
      return
    }
    if let here = selected(model) {
      before.append(here)
      if before.count > 1_000 { before.removeFirst(500) }
    }
    select(row, model)
  }

  mutating func select(_ row: Int, _ model: Model) {
    if row != list.selected { detailsTop = 0 }
    list.select(row, of: count(model))
  }

  // MARK: Choosing

  /// Asks for the things that came since the last call.
  private mutating func choose(from model: Model) {
    guard var next = chosen.take() else { return }
    defer { chosen = next }
    while next.asked < model.count {
      if model.isChosen(next.asked, by: &next.choice) { next.places.append(next.asked) }
      next.asked += 1
    }
  }

  /// Shows what an expression chooses; all for an empty one.
  /// - Returns: Whether it could be understood.
  mutating func choose(_ text: String, _ model: Model) -> Bool {
    let here = selected(model)
    if text.allSatisfy(\.isWhitespace) {
      chosen = nil
    } else {
      do throws(FilterError) {
        chosen = Chosen(text: text, choice: try model.choice(text))
        choose(from: model)
      } catch {
        message = error.description
        return false
      }
    }
    list.select(here.map { row(of: $0) } ?? 0, of: count(model))
    detailsTop = 0
    if chosen?.places.isEmpty == true { message = "nothing is chosen; & and Enter shows all" }
    return true
  }

  // MARK: Searching

  /// Selects the next thing that has a text in it, and goes on at the other end.
  mutating func find(_ text: String, isBackward: Bool, _ model: Model) {
    let count = count(model)
    guard count > 0, !text.isEmpty else { return }
    // As less does with -i: a capital letter tells that it matters.
    let ignoresCase = !text.contains(where: \.isUppercase)
    let wanted = Array((ignoresCase ? text.lowercased() : text).utf8)
    for step in 1...count {
      let row = ((isBackward ? list.selected - step : list.selected + step) + count) % count
      guard let thing = thing(row, model) else { continue }
      let line = model.text(at: thing)
      let bytes = Array((ignoresCase ? line.lowercased() : line).utf8)
      guard bytes.firstPlace(of: wanted) != nil else { continue }
      let hasWrapped = isBackward ? row >= list.selected : row <= list.selected
      if hasWrapped {
        message = isBackward ? "the search went on at the end" : "the search went on at the start"
      }
      select(row, model)
      return
    }
    message = "'\(text)' is nowhere"
  }
}

extension [UInt8] {
  /// Where some bytes stand in these; nil where they don't.
  func firstPlace(of part: [UInt8]) -> Int? {
    guard let first = part.first, part.count <= count else { return nil }
    var start = 0
    while let place = self[start...(count - part.count)].firstIndex(of: first) {
      if self[place...].starts(with: part) { return place }
      start = place + 1
      guard start <= count - part.count else { return nil }
    }
    return nil
  }
}
