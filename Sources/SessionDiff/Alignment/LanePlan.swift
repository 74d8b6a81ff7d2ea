/// What of a lane has to be looked at again, as it is not the same on both sides by what is kept of it.
struct LanePlan: Sendable {
  /// Something that is on one side alone, or on both and not the same for sure.
  struct Step: Sendable {
    /// Its index on either side.
    var a: Int?
    var b: Int?
    /// Whether the same was said, and only the answers differ.
    var isEqual = false
  }

  /// Steps between two things that are the same.
  struct Part: Sendable {
    var steps: [Step] = []
    /// What stands before them on both sides.
    var context: (a: Int, b: Int)?
    /// The places where bytes are missing.
    var lossesA: [Int] = []
    var lossesB: [Int] = []
    /// Whether a side is cut behind it, and lacks nothing else: what it has is as it was said.
    var isCutA = false
    var isCutB = false
  }

  var parts: [Part] = []
  /// Whether there was too much that differs to be laid side by side as well as can be.
  private(set) var isRough = false

  init(_ a: [SessionDigest.Item], _ b: [SessionDigest.Item]) {
    // What is missing is not known, and so it is equal to nothing.
    let alignment = Alignment(
      a.enumerated().map { $1.isLoss ? ~UInt64($0) : $1.exact },
      b.enumerated().map { $1.isLoss ? ~UInt64($0) ^ 1 << 62 : $1.exact })
    isRough = alignment.isRough
    var hunks = alignment.hunks[...]
    var context: (a: Int, b: Int)?
    for pair in alignment.pairs + [(a.count, b.count)] {
      if let hunk = hunks.first, hunk.a.upperBound <= pair.a, hunk.b.upperBound <= pair.b {
        hunks.removeFirst()
        parts.append(part(hunk, a, b, context))
      }
      guard pair.a < a.count, pair.b < b.count else { break }
      if a[pair.a].answers != b[pair.b].answers {
        parts.append(
          Part(steps: [Step(a: pair.a, b: pair.b, isEqual: true)], context: context))
      }
      context = pair
    }
  }

  /// Pairs what lies between two things that are the same: by type and topic, then by type and payload.
  private mutating func part(
    _ hunk: Alignment.Hunk, _ a: [SessionDigest.Item], _ b: [SessionDigest.Item],
    _ context: (a: Int, b: Int)?
  ) -> Part {
    var part = Part(context: context)
    part.lossesA = hunk.a.filter { a[$0].isLoss }
    part.lossesB = hunk.b.filter { b[$0].isLoss }
    part.isCutA = part.lossesB.isEmpty && part.lossesA.allSatisfy { a[$0].isCut }
    part.isCutB = part.lossesA.isEmpty && part.lossesB.allSatisfy { b[$0].isCut }
    part.steps = steps(
      hunk.a.filter { !a[$0].isLoss }, hunk.b.filter { !b[$0].isLoss }, a, b, [\.shape, \.kind])
    return part
  }

  private mutating func steps(
    _ indicesA: [Int], _ indicesB: [Int], _ a: [SessionDigest.Item], _ b: [SessionDigest.Item],
    _ keys: [KeyPath<SessionDigest.Item, UInt64>]
  ) -> [Step] {
    guard let key = keys.first, !indicesA.isEmpty, !indicesB.isEmpty else {
      return indicesA.map { Step(a: $0) } + indicesB.map { Step(b: $0) }
    }
    let alignment = Alignment(
      indicesA.map { a[$0][keyPath: key] }, indicesB.map { b[$0][keyPath: key] })
    isRough = isRough || alignment.isRough
    var steps: [Step] = []
    var next = (a: 0, b: 0)
    for pair in alignment.pairs + [(indicesA.count, indicesB.count)] {
      steps += self.steps(
        Array(indicesA[next.a..<pair.a]), Array(indicesB[next.b..<pair.b]), a, b,
        Array(keys.dropFirst()))
      guard pair.a < indicesA.count, pair.b < indicesB.count else { break }
      steps.append(Step(a: indicesA[pair.a], b: indicesB[pair.b]))
      next = (pair.a + 1, pair.b + 1)
    }
    return steps
  }
}
