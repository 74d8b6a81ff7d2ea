import RepriseCore

/// Which clauses a step of a scenario shows: what is wrong with it is held against these and no others.
package enum StepBinding: Sendable, Hashable {
  /// None: the step leads to what the scenario shows.
  case none
  /// One, by whatever comes of the step.
  case step(String)
  /// One for each line that must come of it, or none; one more is that of whatever else comes behind them.
  case lines([String?])

  /// Reads the key `clause` of a step: an identifier, or an array with one or null for each line, and perhaps one
  /// for what else comes.
  init(_ value: JSONValue?) {
    switch value {
    case .string(let id): self = .step(id)
    case .array(let ids): self = .lines(ids.map(\.text))
    default: self = .none
    }
  }

  /// The clauses, each once and in their order.
  package var clauses: [String] {
    switch self {
    case .none: []
    case .step(let id): [id]
    case .lines(let ids):
      ids.reduce(into: []) { if let id = $1, !$0.contains(id) { $0.append(id) } }
    }
  }

  /// The clause of one of the lines that must come of the step.
  fileprivate func clause(ofLine index: Int) -> String? {
    switch self {
    case .none: nil
    case .step(let id): id
    case .lines(let ids): ids.indices.contains(index) ? ids[index] : nil
    }
  }
}

extension Scenario {
  /// The clauses that are broken when other lines come of a step than must.
  ///
  /// A line that is missing, or another, is one of its own clause; so is one that comes twice, and one that comes
  /// before its time. What comes in between, behind or in another order may be wrong by any clause that the step
  /// shows, unless it says which.
  /// - Parameters:
  ///   - index: The step, from 0.
  ///   - actual: The lines that came of it.
  /// - Returns: The clauses; none for a step that shows none.
  func blamed(step index: Int, actual: [String]) -> [String] {
    let (expected, binding) = (steps[index].expected, steps[index].binding)
    let place = zip(expected, actual).prefix { $0 == $1 }.count
    guard place < actual.count || place < expected.count else { return binding.clauses }
    if place < actual.count {
      if place > 0, actual[place] == actual[place - 1] {
        return [binding.clause(ofLine: place - 1)].compactMap(\.self)
      }
      if let id = clause(ofEarly: actual[place], after: index), !expected.contains(actual[place]) {
        return [id]
      }
    }
    if place == expected.count, let rest = binding.clause(ofLine: place) { return [rest] }
    guard place < expected.count, !actual.dropFirst(place).contains(expected[place]) else {
      return binding.clauses
    }
    return [binding.clause(ofLine: place)].compactMap(\.self)
  }

  /// The clause of a line for which time has to pass: the next step of which anything comes is a wait, and it is
  /// one of its lines.
  private func clause(ofEarly line: String, after index: Int) -> String? {
    guard let next = steps.dropFirst(index + 1).first(where: { !$0.expected.isEmpty }),
      next.wait != nil || next.jump != nil
    else {
      return nil
    }
    let place = next.expected.firstIndex { Self.unstamped($0) == Self.unstamped(line) }
    return place.flatMap { next.binding.clause(ofLine: $0) }
  }

  private static func unstamped(_ line: String) -> Substring {
    guard line.first == "+", let blank = line.firstIndex(of: " ") else { return line[...] }
    return line[line.index(after: blank)...]
  }

  /// Checks that steps and scenario name the same clauses.
  ///
  /// A scenario of one clause may leave it to that: then every step shows it.
  /// - Parameters:
  ///   - steps: The steps.
  ///   - clauses: The clauses that the scenario names.
  ///   - name: The scenario's name.
  /// - Returns: The steps with what they show.
  /// - Throws: ``ConformanceError`` when they do not fit.
  static func bind(
    _ steps: [ScenarioStep], to clauses: [String], of name: String
  ) throws(ConformanceError) -> [ScenarioStep] {
    func refuse(_ text: String) -> ConformanceError {
      ConformanceError(.badCatalogue, "the scenario \(name) \(text)")
    }
    if let only = clauses.first, clauses.count == 1,
      steps.allSatisfy({ $0.binding == .none })
    {
      return steps.map { step in
        var step = step
        step.binding = .step(only)
        return step
      }
    }
    for (index, step) in steps.enumerated() {
      for id in step.binding.clauses where !clauses.contains(id) {
        throw refuse("shows \(id) in step \(index + 1) and does not name it")
      }
      if case .lines(let ids) = step.binding,
        ids.count != step.expected.count,
        ids.count != step.expected.count + 1
      {
        throw refuse(
          "has \(ids.count) clauses for \(step.expected.count) lines in step \(index + 1)")
      }
    }
    let shown = Set(steps.flatMap(\.binding.clauses))
    for id in clauses where !shown.contains(id) {
      throw refuse("names \(id), which none of its steps shows")
    }
    return steps
  }

  /// The number of the last step that shows a clause, from 1; 0 if none does.
  func lastStep(showing clause: String) -> Int {
    (steps.lastIndex { $0.binding.clauses.contains(clause) } ?? -1) + 1
  }
}
