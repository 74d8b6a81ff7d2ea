extension Viewer {
  /// Takes a key.
  /// - Parameters:
  ///   - key: The key.
  ///   - model: What is looked at.
  /// - Returns: What it asks for.
  package mutating func take(_ key: Key, _ model: Model) -> [Effect] {
    message = nil
    if prompt != nil {
      type(key, model)
      return []
    }
    switch key {
    case .control("l"): return [.repaint]
    case .character("q"), .character("Q"), .escape: return leave(isQuit: key != .escape)
    case .character("h"), .character("H"):
      focus = focus == .help ? (hasDetails ? .details : .list) : .help
      helpTop = 0
    case .character("F"): showFindings(model)
    default:
      switch focus {
      case .list: return takeInList(key, model)
      case .details: return takeInDetails(key, model)
      case .findings: takeInFindings(key, model)
      case .help:
        // Drawing bounds it: a narrow screen has more lines than the text.
        helpTop = scroll(helpTop, key, of: .max, page: size.height - 2)
      }
    }
    return []
  }

  /// Closes what is open; the list is closed by `q` alone.
  private mutating func leave(isQuit: Bool) -> [Effect] {
    switch focus {
    case .help, .findings: focus = hasDetails ? .details : .list
    case .details:
      hasDetails = false
      focus = .list
    case .list:
      // Details that are open without the focus are closed first.
      guard hasDetails else { return isQuit ? [.quit] : [] }
      hasDetails = false
    }
    return []
  }

  // MARK: The list and the details

  private mutating func takeInList(_ key: Key, _ model: Model) -> [Effect] {
    switch key {
    case .left: column = max(0, column - 20)
    case .right: column = min(column + 20, 10_000)
    case .enter:
      if selected(model) != nil {
        hasDetails = true
        focus = .details
        detailsTop = 0
      }
    case .tab: if hasDetails { focus = .details }
    default:
      guard let rows = Self.step(of: key, page: listHeight) else {
        return takeAnywhere(key, model)
      }
      move(by: rows, model)
    }
    return []
  }

  private mutating func takeInDetails(_ key: Key, _ model: Model) -> [Effect] {
    switch key {
    case .tab: focus = .list
    case .enter: detailsTop += 1
    // As in tig, the arrows select in the list above, and letters scroll here.
    case .up: move(by: -1, model)
    case .down: move(by: 1, model)
    case .character("K"), .character("p"): move(by: -1, model)
    case .character("J"), .control("n"): move(by: 1, model)
    default:
      guard Self.step(of: key, page: 1) != nil else {
        return takeAnywhere(key, model)
      }
      // How many lines there are is known when they are drawn.
      detailsTop = scroll(detailsTop, key, of: .max, page: detailsHeight)
    }
    return []
  }

  private mutating func move(by rows: Int, _ model: Model) {
    let row = list.selected
    list.move(by: rows, of: count(model))
    if list.selected != row { detailsTop = 0 }
    follows = rows == .max
  }

  /// How many rows a key goes; nil for one that goes nowhere.
  static func step(of key: Key, page: Int) -> Int? {
    let page = max(1, page)
    return switch key {
    case .up, .character("k"), .control("p"), .control("k"): -1
    case .down, .character("j"), .control("n"), .control("e"): 1
    case .pageUp, .character("b"), .control("b"): -page
    case .pageDown, .character(" "), .character("f"), .control("f"), .control("v"): page
    case .character("u"), .control("u"): -max(1, page / 2)
    case .character("d"), .control("d"): max(1, page / 2)
    case .home, .character("g"), .character("<"): -.max
    case .end, .character("G"), .character(">"): .max
    default: nil
    }
  }

  /// The first line that is seen behind a key that scrolls.
  private func scroll(_ top: Int, _ key: Key, of count: Int, page: Int) -> Int {
    guard let step = Self.step(of: key, page: page) else { return top }
    let (sum, isOver) = top.addingReportingOverflow(step)
    return min(max(0, isOver ? (step > 0 ? .max : 0) : sum), max(0, count - 1))
  }

  // MARK: Findings

  private mutating func showFindings(_ model: Model) {
    guard model.findingCount > 0 else {
      message = "there are no findings"
      return
    }
    focus = .findings
    // The one that is selected, or the next one.
    if let here = selected(model) {
      let row = (0..<model.findingCount).first { (model.thing(ofFinding: $0) ?? -1) >= here }
      findings.select(row ?? 0, of: model.findingCount)
    }
  }

  private mutating func takeInFindings(_ key: Key, _ model: Model) {
    if let rows = Self.step(of: key, page: size.height - 2) {
      return findings.move(by: rows, of: model.findingCount)
    }
    let target: Int?
    switch key {
    case .enter: target = model.thing(ofFinding: findings.selected)
    case .character("c"): target = model.cause(ofFinding: findings.selected)
    default: return
    }
    guard let target else {
      message = key == .enter ? "its event is not shown" : "it rests on no other event"
      return
    }
    hasDetails = true
    focus = .details
    jump(to: target, model)
  }

  /// Selects the next thing that has a finding, or the one before.
  private mutating func jumpToFinding(isBackward: Bool, _ model: Model) {
    let here = selected(model) ?? -1
    let things = (0..<model.findingCount).compactMap { model.thing(ofFinding: $0) }
    let target =
      isBackward ? things.filter { $0 < here }.max() : things.filter { $0 > here }.min()
    guard let target else {
      message = "there is no finding \(isBackward ? "before" : "behind") this"
      return
    }
    jump(to: target, model)
  }

  // MARK: Everywhere

  private mutating func takeAnywhere(_ key: Key, _ model: Model) -> [Effect] {
    switch key {
    case .character("/"): prompt = Prompt(.search)
    case .character("?"): prompt = Prompt(.searchBack)
    case .character("&"): prompt = Prompt(.choose, chosen?.text ?? "")
    case .character(":"): prompt = Prompt(.frame)
    case .character("n"), .character("N"):
      guard let search else {
        message = "nothing was searched; type / and a text"
        break
      }
      find(search.text, isBackward: search.isBackward != (key == .character("N")), model)
    case .character("]"): jumpToFinding(isBackward: false, model)
    case .character("["): jumpToFinding(isBackward: true, model)
    case .character("c"): jumpToCause(model)
    case .character("'"):
      guard let last = before.popLast() else {
        message = "there was no jump"
        break
      }
      select(row(of: last), model)
    case .character("y"):
      let command = model.command(at: selected(model))
      message = "copied: \(command)"
      return [.copy(command)]
    default: break
    }
    return []
  }

  private mutating func jumpToCause(_ model: Model) {
    guard let here = selected(model) else { return }
    let causes = model.findings(at: here).compactMap { model.cause(ofFinding: $0) }
    guard let target = causes.first ?? model.partner(of: here) else {
      message = "nothing is known that it answers, or that answers it"
      return
    }
    jump(to: target, model)
  }

  // MARK: The prompt

  private mutating func type(_ key: Key, _ model: Model) {
    guard var line = prompt else { return }
    let outcome = line.take(key)
    prompt = line
    switch outcome {
    case .open: break
    case .given: prompt = nil
    case .complete: if line.kind == .choose { complete(model) }
    case .done:
      prompt = nil
      enter(line, model)
    }
  }

  private mutating func enter(_ line: Prompt, _ model: Model) {
    switch line.kind {
    case .search, .searchBack:
      let isBackward = line.kind == .searchBack
      // As in less, an empty line repeats the last search.
      let text = line.value.isEmpty ? search?.text ?? "" : line.value
      search = (text, isBackward)
      find(text, isBackward: isBackward, model)
    // What can't be understood stays there to be mended.
    case .choose: if !choose(line.value, model) { prompt = line }
    case .frame:
      guard let frame = Int(line.value.filter { $0 != " " }), frame > 0 else {
        message = "'\(line.value)' is no number of a frame"
        return
      }
      guard let thing = model.place(atOrBehind: frame) else { return }
      jump(to: thing, model)
      if message == nil, model.frame(at: thing) != frame {
        message = "frame \(frame) has nothing"
      }
    }
  }

  /// Completes what stands before the cursor, as far as there is one way; tells the ways where there are several.
  private mutating func complete(_ model: Model) {
    guard var line = prompt else { return }
    let (count, words) = model.completions(of: line.before)
    guard let first = words.first else {
      message = "nothing that begins so can stand here"
      return
    }
    if words.count == 1 {
      line.replace(count, by: first + " ")
    } else {
      let common = words.dropFirst().reduce(first) { $0.commonStart(with: $1) }
      if common.count > count { line.replace(count, by: common) }
      message = words.joined(separator: " ")
    }
    prompt = line
  }
}

extension String {
  /// What two texts begin with, whatever its case.
  fileprivate func commonStart(with other: String) -> String {
    String(zip(self, other).prefix { $0.lowercased() == $1.lowercased() }.map(\.0))
  }
}
