import RepriseCore

/// Which connections of two sessions are the same.
///
/// Those of one client are, in their order: first those on which the same was said, then what lies between them. Of the
/// others, whose clients have no name or one made anew, those are the same on which the same was said, then those on
/// which things of the same types and topics were, then those that have at least half of that in common, and of those
/// without a name what is left, in its order. One that is cut is the same as one that begins like it.
struct ConnectionMatching {
  /// The indices of two connections that are the same, in order of the first.
  private(set) var pairs: [(a: Int, b: Int)] = []
  private(set) var onlyA: [Int] = []
  private(set) var onlyB: [Int] = []
  private let a: [Traits]
  private let b: [Traits]
  private var restA: Set<Int>
  private var restB: Set<Int>
  /// The most pairs of connections that are held against each other.
  private static let mostComparisons = 1_000_000

  /// What a connection is known by.
  private struct Traits {
    let clientID: String?
    let wire: String
    /// What was said, and what it was about.
    let exact: UInt64
    let shape: UInt64
    /// The lowest of the numbers of what was said: as good as all to tell how much two have in common.
    let sample: Set<UInt64>
    /// The same of what was said itself.
    let exactSample: Set<UInt64>
    /// Whether nobody knows what came behind its last event.
    let isCut: Bool

    init(_ connection: SessionDigest.Connection) {
      clientID = connection.clientID
      wire = connection.wire
      var (exact, shape) = (Fingerprint(), Fingerprint())
      exact.add(wire)
      shape.add(wire)
      for (lane, items) in connection.lanes.enumerated() {
        for item in items where !item.isLoss {
          exact.add(item.exact &+ UInt64(lane))
          exact.add(item.answers)
          shape.add(item.shape &+ UInt64(lane))
        }
      }
      self.exact = exact.value
      self.shape = shape.value
      let telling = connection.lanes.joined().filter { $0.isTelling && !$0.isLoss }
      sample = Self.sample(of: telling.map(\.shape))
      exactSample = Self.sample(of: telling.map(\.exact))
      isCut = connection.lanes.contains { $0.last?.isCut == true }
    }

    private static func sample(of numbers: [UInt64]) -> Set<UInt64> {
      Set(Set(numbers).sorted().prefix(128))
    }

    /// Whether it is cut, and another one may be the whole of it.
    func mayBegin(_ other: Traits) -> Bool {
      guard isCut, clientID == nil || clientID == other.clientID else { return false }
      return 2 * sample.intersection(other.sample).count >= sample.count
    }

    /// How much of what they are about two have in common, from 0 to 1.
    func likeness(to other: Traits) -> Double {
      // Two that say nothing of their own are alike if no name tells them apart.
      let none = clientID == nil || other.clientID == nil ? 1.0 : 0
      return Self.likeness(sample, other.sample) ?? none
    }

    /// How much of what they say two have in common, from 0 to 1.
    func sameness(to other: Traits) -> Double {
      Self.likeness(exactSample, other.exactSample) ?? 0
    }

    private static func likeness(_ a: Set<UInt64>, _ b: Set<UInt64>) -> Double? {
      let all = a.count + b.count
      return all == 0 ? nil : 2 * Double(a.intersection(b).count) / Double(all)
    }
  }

  init(_ a: [SessionDigest.Connection], _ b: [SessionDigest.Connection]) {
    self.a = a.map { Traits($0) }
    self.b = b.map { Traits($0) }
    restA = Set(a.indices)
    restB = Set(b.indices)
    matchNames()
    matchEqual(\.exact)
    matchEqual(\.shape)
    matchAlike()
    matchRest()
    matchCut()
    pairs.sort { $0.a < $1.a }
    onlyA = restA.sorted()
    onlyB = restB.sorted()
  }

  private mutating func match(_ indexA: Int, _ indexB: Int) {
    restA.remove(indexA)
    restB.remove(indexB)
    pairs.append((indexA, indexB))
  }

  private mutating func matchNames() {
    let groupsB = Dictionary(grouping: b.indices.filter { b[$0].clientID != nil }) {
      b[$0].clientID
    }
    let groupsA = Dictionary(grouping: a.indices.filter { a[$0].clientID != nil }) {
      a[$0].clientID
    }
    for (name, group) in groupsA {
      guard let others = groupsB[name] else { continue }
      matchInOrder(group, others, [\.exact, \.shape])
    }
  }

  /// Matches two series by what is equal in order, then what lies between by less, at last by place.
  private mutating func matchInOrder(
    _ group: [Int], _ others: [Int], _ keys: [KeyPath<Traits, UInt64>]
  ) {
    guard let key = keys.first else {
      for (indexA, indexB) in zip(group, others) { match(indexA, indexB) }
      return
    }
    let alignment = Alignment(
      group.map { a[$0][keyPath: key] }, others.map { b[$0][keyPath: key] })
    for pair in alignment.pairs { match(group[pair.a], others[pair.b]) }
    for hunk in alignment.hunks where !hunk.a.isEmpty && !hunk.b.isEmpty {
      matchInOrder(Array(group[hunk.a]), Array(others[hunk.b]), Array(keys.dropFirst()))
    }
  }

  private mutating func matchEqual(_ key: KeyPath<Traits, UInt64>) {
    var waiting = Dictionary(grouping: restB.sorted().reversed()) { b[$0][keyPath: key] }
    for indexA in restA.sorted() {
      if let indexB = waiting[a[indexA][keyPath: key]]?.popLast() { match(indexA, indexB) }
    }
  }

  private mutating func matchAlike() {
    guard restA.count * restB.count <= Self.mostComparisons else { return }
    var candidates: [(a: Int, b: Int, likeness: Double, sameness: Double)] = []
    for indexA in restA.sorted() {
      for indexB in restB.sorted() where a[indexA].wire == b[indexB].wire {
        let likeness = a[indexA].likeness(to: b[indexB])
        guard likeness >= 0.5 else { continue }
        candidates.append((indexA, indexB, likeness, a[indexA].sameness(to: b[indexB])))
      }
    }
    // Where both are equal, those at the nearest places.
    candidates.sort {
      ($1.likeness, $1.sameness, abs($0.a - $0.b), $0.a, $0.b)
        < ($0.likeness, $0.sameness, abs($1.a - $1.b), $1.a, $1.b)
    }
    for candidate in candidates where restA.contains(candidate.a) && restB.contains(candidate.b) {
      match(candidate.a, candidate.b)
    }
  }

  /// Matches what is cut with what has most of it: it may not have come to its client's name.
  private mutating func matchCut() {
    for indexA in restA.sorted() {
      guard
        let indexB = restB.sorted().first(where: {
          a[indexA].mayBegin(b[$0]) || b[$0].mayBegin(a[indexA])
        })
      else { continue }
      match(indexA, indexB)
    }
  }

  /// Matches by place what nothing else tells apart: connections without a name, or the only ones that there are.
  private mutating func matchRest() {
    let isAlone = a.count == 1 && b.count == 1
    for wire in Set(a.map(\.wire)).sorted() {
      let group = restA.filter { a[$0].wire == wire && (isAlone || a[$0].clientID == nil) }
      let others = restB.filter { b[$0].wire == wire && (isAlone || b[$0].clientID == nil) }
      for (indexA, indexB) in zip(group.sorted(), others.sorted()) { match(indexA, indexB) }
    }
  }
}
