package import RepriseCore

/// What a machine of the SDK heard, did and told in a session, step by step, with how it was behind each.
package struct ViewedSteps: Sendable {
  /// One thing of how the machine was.
  package struct State: Sendable, Hashable {
    package var name: String
    var value: String
    /// When it is over, if it waits.
    var until: Timestamp?

    /// Creates one.
    package init(_ name: String, _ value: String, until: Timestamp? = nil) {
      self.name = name
      self.value = value
      self.until = until
    }
  }

  /// One step.
  package struct Step: Sendable {
    /// When it was, in the session's time.
    var time: Timestamp
    /// The frame that it comes from; nil where it comes from time alone.
    package var place: ReplayPlace?
    /// What kind of step it is: `received`, `performed`, `called`, `completed`, `told`, `diverged`.
    var kind: String
    /// The step as a line with the colours of `EventTextWriter`, or of its like.
    package var line: [UInt8]
    /// How the machine was behind it.
    package var state: [State] = []
    /// Where the machine left the session, as lines for people.
    package var fault: [String] = []

    /// Creates a step.
    package init(_ kind: String, at time: Timestamp, _ place: ReplayPlace?, line: [UInt8]) {
      self.kind = kind
      self.time = time
      self.place = place
      self.line = line
    }
  }

  /// The name of the file.
  package let file: String
  /// Whose session it is: `app dev1&a1pk`.
  package let subject: String
  /// The words that run the viewer: `--sdk channel`.
  package let options: String
  /// The steps, in their order.
  package var steps: [Step] = []

  /// Creates a list without steps.
  /// - Parameters:
  ///   - file: The name of the file.
  ///   - subject: Whose session it is.
  ///   - options: The words that run the viewer.
  package init(_ file: String, subject: String, options: String) {
    self.file = file
    self.subject = subject
    self.options = options
  }

  /// The steps of a frame.
  package func steps(ofFrame frame: Int) -> [Int] {
    steps.indices.filter { steps[$0].place?.frame == frame }
  }

  /// A step for programs.
  package func json(at index: Int) -> JSONValue {
    let step = steps[index]
    let text = StyledText(colored: step.line).plain
    return JSONValue([
      "step": index + 1, "time": "\(step.time)", "frame": step.place?.frame,
      "connection": step.place?.connection, "kind": step.kind, "line": text,
      "state": step.state.map { state in
        JSONValue([
          "name": state.name, "value": state.value, "until": state.until.map { "\($0)" },
        ])
      },
    ])
  }

  /// A step for people: the line, and how the machine is behind it; `+` marks what the step changed.
  package func lines(at index: Int) -> [PageLine] {
    guard steps.indices.contains(index) else { return [] }
    let step = steps[index]
    let place = step.place.map { "frame \($0.frame), connection \($0.connection)" } ?? "no frame"
    var lines = [PageLine("Step \(index + 1), \(place), \(step.time)", .title)]
    lines.append(PageLine("  " + StyledText(colored: step.line).plain))
    lines += step.fault.map { PageLine($0, .fault) }
    lines.append(PageLine("\(subject) behind it", .title))
    let before = index > 0 ? Set(steps[index - 1].state) : []
    for state in step.state {
      let name = state.name + String(repeating: " ", count: max(0, 10 - state.name.count))
      let isNew = index > 0 && !before.contains(state)
      let timer = state.until.map { ", until \(Self.clock($0)) (\(Self.rest($0, step.time)))" }
      lines.append(
        PageLine(
          "\(isNew ? "+" : " ") \(name)  \(state.value)\(timer ?? "")", isNew ? .title : .plain))
    }
    let now = Set(step.state)
    for state in before.subtracting(now).sorted(by: { $0.name < $1.name })
    where !step.state.contains(where: { $0.name == state.name }) {
      lines.append(PageLine("- \(state.name)  \(state.value)", .quiet))
    }
    return lines
  }

  private static func clock(_ time: Timestamp) -> String { String("\(time)".dropFirst(11)) }

  private static func rest(_ until: Timestamp, _ now: Timestamp) -> String {
    "in \(EventPage.time(Int(until.nanoseconds(since: now))))"
  }
}

extension ViewedSteps: ViewedModel {
  package var name: String { "\(file), \(subject)" }
  package var count: Int { steps.count }
  package var progress: String? { nil }

  package func row(at index: Int) -> StyledText { StyledText(colored: steps[index].line) }
  package func text(at index: Int) -> String { row(at: index).plain }
  package func details(at index: Int, width: Int) -> [PageLine] { lines(at: index) }
  package func frame(at index: Int) -> Int? { steps[index].place?.frame }

  package func place(atOrBehind frame: Int) -> Int? {
    steps.indices.first { (steps[$0].place?.frame ?? -1) >= frame }
      ?? (steps.isEmpty ? nil : steps.count - 1)
  }

  /// The step of the same frame that came first: what led to the others.
  package func partner(of index: Int) -> Int? {
    guard let place = steps[index].place else { return nil }
    return steps.indices.first { steps[$0].place == place && $0 < index }
  }

  package func command(at index: Int?) -> String {
    let base = "reprise view \(options) \(ShellWord.quoted(file))"
    guard let frame = index.flatMap(frame) else { return base }
    return "\(base) --at \(frame)"
  }

  private var faults: [Int] { steps.indices.filter { !steps[$0].fault.isEmpty } }

  package var findingCount: Int { faults.count }
  package var untoldFindings: Int { 0 }
  package func finding(at place: Int) -> StyledText { row(at: faults[place]) }
  package func thing(ofFinding place: Int) -> Int? { faults[place] }
  package func cause(ofFinding place: Int) -> Int? { faults[place] > 0 ? faults[place] - 1 : nil }
  package func findings(at index: Int) -> [Int] {
    faults.indices.filter { faults[$0] == index }
  }

  /// Steps are no events: those are chosen that have a text in them.
  package func choice(_ text: String) throws(FilterError) -> String { text.lowercased() }

  package func isChosen(_ index: Int, by choice: inout String) -> Bool {
    Array(text(at: index).lowercased().utf8).firstPlace(of: Array(choice.utf8)) != nil
  }

  package func completions(of text: String) -> (replaced: Int, words: [String]) { (0, []) }
}
