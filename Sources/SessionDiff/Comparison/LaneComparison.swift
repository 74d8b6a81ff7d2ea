import RepriseCore

/// What differs of what one end of a connection said.
struct LaneComparison {
  private(set) var differences: [Difference] = []
  private(set) var unknown: [Utterance] = []
  private(set) var losses: [Utterance] = []
  private(set) var isCut = false
  private let lane: Lane
  private let spokenA: (Int?) -> Utterance?
  private let spokenB: (Int?) -> Utterance?
  /// Whether an answer may be among the bytes that are missing.
  private let lacksAnswers: (a: Bool, b: Bool)

  init(
    _ lane: Lane, spokenA: @escaping (Int?) -> Utterance?,
    spokenB: @escaping (Int?) -> Utterance?, lacksAnswers: (a: Bool, b: Bool)
  ) {
    self.lane = lane
    self.spokenA = spokenA
    self.spokenB = spokenB
    self.lacksAnswers = lacksAnswers
  }

  /// Compares.
  /// - Parameters:
  ///   - plan: What has to be looked at.
  ///   - mayBeCut: Whether there was no room to keep all of that.
  mutating func compare(_ plan: LanePlan, isCut mayBeCut: Bool) {
    for part in plan.parts {
      var context: (a: Utterance, b: Utterance)?
      if let before = part.context, let a = spokenA(before.a), let b = spokenB(before.b) {
        context = (a, b)
      }
      let hasLoss = !part.lossesA.isEmpty || !part.lossesB.isEmpty
      var frames = (a: context?.a.frame ?? 0, b: context?.b.frame ?? 0)
      let found = part.steps.flatMap { step in
        frames.a = max(frames.a, spokenA(step.a)?.frame ?? 0)
        frames.b = max(frames.b, spokenB(step.b)?.frame ?? 0)
        return compare(step, context, mayBeCut).map { $0.placed(behind: frames) }
      }
      guard hasLoss else {
        differences += found
        continue
      }
      let known = found.filter { $0.asked != nil || part.knows($0) }
      differences += known
      // How a connection ended nobody knows where the capture ends first, and nobody is told that.
      guard lane != .end else { continue }
      unknown += found.filter { $0.asked == nil && !part.knows($0) }
        .flatMap { [$0.a, $0.b].compactMap(\.self) }
      if found.count > known.count {
        losses += part.lossesA.compactMap(spokenA) + part.lossesB.compactMap(spokenB)
      }
    }
    joinMoved()
  }

  private mutating func compare(
    _ step: LanePlan.Step, _ context: (a: Utterance, b: Utterance)?, _ mayBeCut: Bool
  ) -> [Difference] {
    let (a, b) = (spokenA(step.a), spokenB(step.b))
    if mayBeCut, (step.a != nil && a == nil) || (step.b != nil && b == nil) {
      isCut = true
      return []
    }
    switch (a, b) {
    case (let a?, let b?):
      let fields = step.isEqual ? [] : FieldDifference.all(a.form, b.form)
      let changed = Difference(
        kind: .changed, lane: lane, a: a, b: b, fields: fields, context: context)
      return (fields.isEmpty ? [] : [changed]) + compareAnswers(a, b, context)
    case (let a?, nil): return [Difference(kind: .onlyA, lane: lane, a: a, context: context)]
    case (nil, let b?): return [Difference(kind: .onlyB, lane: lane, b: b, context: context)]
    case (nil, nil): return []
    }
  }

  /// Compares what answered something: each answer with the one of the same type.
  private mutating func compareAnswers(
    _ a: Utterance, _ b: Utterance, _ context: (a: Utterance, b: Utterance)?
  ) -> [Difference] {
    var rest = b.answers
    var found: [Difference] = []
    for answer in a.answers {
      guard let index = rest.firstIndex(where: { $0.form["type"] == answer.form["type"] }) else {
        lack(answer, .onlyA, isUnknown: lacksAnswers.b, asked: a, context, &found)
        continue
      }
      let other = rest.remove(at: index)
      let fields = FieldDifference.all(answer.form, other.form)
      guard !fields.isEmpty else { continue }
      found.append(
        Difference(
          kind: .changed, lane: lane, a: answer, b: other, fields: fields, asked: a,
          context: context))
    }
    for answer in rest {
      lack(answer, .onlyB, isUnknown: lacksAnswers.a, asked: b, context, &found)
    }
    return found
  }

  private mutating func lack(
    _ answer: Utterance, _ kind: Difference.Kind, isUnknown: Bool, asked: Utterance,
    _ context: (a: Utterance, b: Utterance)?, _ found: inout [Difference]
  ) {
    guard !isUnknown else { return unknown.append(answer) }
    var difference = Difference(kind: kind, lane: lane, asked: asked, context: context)
    if kind == .onlyA { difference.a = answer } else { difference.b = answer }
    found.append(difference)
  }

  /// Makes one difference of two: the same said at another place.
  private mutating func joinMoved() {
    var waiting: [JSONValue: [Int]] = [:]
    for (index, difference) in differences.enumerated().reversed()
    where difference.kind == .onlyB && difference.asked == nil {
      if let form = difference.b?.form { waiting[form, default: []].append(index) }
    }
    guard !waiting.isEmpty else { return }
    var joined: Set<Int> = []
    for index in differences.indices
    where differences[index].kind == .onlyA && differences[index].asked == nil {
      guard let form = differences[index].a?.form, let other = waiting[form]?.popLast() else {
        continue
      }
      differences[index].kind = .moved
      differences[index].b = differences[other].b
      joined.insert(other)
    }
    differences = differences.indices.filter { !joined.contains($0) }.map { differences[$0] }
  }
}

extension LanePlan.Part {
  /// Whether it differs whatever is missing here: the side that was cut has it, and the other one lacks nothing.
  fileprivate func knows(_ difference: Difference) -> Bool {
    isCutA && difference.a != nil || isCutB && difference.b != nil
  }
}

extension Difference {
  /// The same, told behind frames of both sessions.
  fileprivate func placed(behind frames: (a: Int, b: Int)) -> Difference {
    var placed = self
    placed.place = (frames.a, frames.b, asked == nil ? 0 : 1)
    return placed
  }
}
