internal import Wire

/// Topic filters with wildcards as a tree of their levels, so that a topic meets only filters that
/// have begun like it: those that don't cost nothing, however many they are.
///
/// The text of the filters is kept by whoever keeps the tree.
struct TopicTree {
  /// The levels of a filter up to one of them.
  private struct Node {
    var parent: Int32
    /// Where the text of its last level stands.
    var start: Int32
    var count: Int32
    /// Whether it is a text, and no `+`.
    var isText = false
    /// What is behind a `+` in the next level.
    var plus: Int32 = -1
    /// The filter that goes on with `#`, and the one that ends here.
    var multi: Int32 = -1
    var end: Int32 = -1
  }

  /// The most levels that are kept, of all filters: with it a tree takes at most 2 MiB.
  static let maximumNodes = 65_536

  /// The most nodes that are looked at for a topic: filters made for it could let all of a level match.
  static let maximumSteps = 4_096

  private var nodes: [Node] = []
  /// The nodes with a text by their parent and their text: open addressing, -1 where none is.
  ///
  /// At most half of it is taken.
  private var slots: [Int32] = []
  // Kept so that a topic needs no memory of its own.
  private var active: [Int32] = []
  private var next: [Int32] = []
  /// How many nodes were looked at for the last topic.
  private(set) var steps = 0
  /// Whether a topic was given up, so that it may match what was not found.
  private(set) var isExhausted = false

  var isEmpty: Bool { nodes.isEmpty }

  /// The memory that the levels take, in bytes.
  var reserved: Int {
    nodes.grownSize + slots.grownSize + active.grownSize + next.grownSize
  }

  /// Adds a filter, which must be a valid one.
  /// - Parameters:
  ///   - range: Where the filter stands.
  ///   - text: The text of all filters.
  ///   - index: What it is called.
  /// - Returns: Whether there is room for it.
  mutating func insert(_ range: Range<Int>, in text: RawSpan, for index: Int) -> Bool {
    let filter = text.extracting(range)
    var levels = Levels(filter)
    var count = 1
    while levels.next() != nil { count += 1 }
    guard nodes.count + count <= Self.maximumNodes else { return false }
    if nodes.isEmpty {
      nodes.append(Node(parent: -1, start: 0, count: 0))
      slots = Array(repeating: -1, count: 64)
    }
    var node = 0
    levels = Levels(filter)
    while let level = levels.next() {
      let name = filter.extracting(level)
      if name.equals("#") {
        nodes[node].multi = Int32(index)
        return true
      }
      if name.equals("+") {
        node = wild(below: node)
      } else {
        node = child(of: node, at: range.lowerBound + level.lowerBound, name, in: text)
      }
    }
    nodes[node].end = Int32(index)
    return true
  }

  /// Finds a filter that a topic matches and that is wanted.
  /// - Parameters:
  ///   - topic: The topic.
  ///   - text: The text of all filters.
  ///   - isWanted: Asked for each filter that matches, until one is.
  /// - Returns: What the filter is called.
  @inline(__always)
  mutating func first(
    matching topic: RawSpan, in text: RawSpan, _ isWanted: (Int) -> Bool
  ) -> Int? {
    active.removeAll(keepingCapacity: true)
    active.append(0)
    steps = 0
    // No wildcard stands for the first level of a topic of the server (MQTT-4.7.2-1).
    var mayBeWild = topic.byteCount == 0 || !topic.extracting(first: 1).equals("$")
    var levels = Levels(topic)
    while !active.isEmpty, let level = levels.next() {
      guard steps + active.count <= Self.maximumSteps else {
        isExhausted = true
        return nil
      }
      let name = topic.extracting(level)
      let hash = TextHash.of(name)
      next.removeAll(keepingCapacity: true)
      for node in active {
        steps += 1
        let entry = nodes[Int(node)]
        if mayBeWild {
          if entry.multi >= 0, isWanted(Int(entry.multi)) { return Int(entry.multi) }
          if entry.plus >= 0 { next.append(entry.plus) }
        }
        let slot = self.slot(of: Int(node), name, hash: hash, in: text)
        if slots[slot] >= 0 { next.append(slots[slot]) }
      }
      swap(&active, &next)
      mayBeWild = true
    }
    for node in active {
      steps += 1
      let entry = nodes[Int(node)]
      if entry.end >= 0, isWanted(Int(entry.end)) { return Int(entry.end) }
      // "a/#" matches "a" too.
      if entry.multi >= 0, isWanted(Int(entry.multi)) { return Int(entry.multi) }
    }
    return nil
  }

  // MARK: Nodes

  /// The node of `+` below a node, which is made if it is not there.
  private mutating func wild(below node: Int) -> Int {
    if nodes[node].plus < 0 {
      nodes[node].plus = Int32(nodes.count)
      nodes.append(Node(parent: Int32(node), start: 0, count: 0))
    }
    return Int(nodes[node].plus)
  }

  /// The node of a text below a node, which is made if it is not there.
  private mutating func child(
    of node: Int, at start: Int, _ name: RawSpan, in text: RawSpan
  ) -> Int {
    if slots.count < 2 * (nodes.count + 1) { grow(text) }
    let slot = slot(of: node, name, hash: TextHash.of(name), in: text)
    if slots[slot] < 0 {
      slots[slot] = Int32(nodes.count)
      nodes.append(
        Node(parent: Int32(node), start: Int32(start), count: Int32(name.byteCount), isText: true))
    }
    return Int(slots[slot])
  }

  /// The slot of a text below a node, or the free one where it would go.
  @inline(__always)
  private func slot(of parent: Int, _ name: RawSpan, hash: UInt64, in text: RawSpan) -> Int {
    let mask = slots.count - 1
    let mixed = (hash ^ UInt64(parent)).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    var slot = Int(truncatingIfNeeded: mixed.high ^ mixed.low) & mask
    while slots[slot] >= 0, !isNode(Int(slots[slot]), parent, name, in: text) {
      slot = (slot + 1) & mask
    }
    return slot
  }

  @inline(__always)
  private func isNode(_ node: Int, _ parent: Int, _ name: RawSpan, in text: RawSpan) -> Bool {
    let node = nodes[node]
    guard node.parent == parent, node.count == name.byteCount else { return false }
    return self.name(of: node, in: text).withUnsafeBytes { bytes in
      name.withUnsafeBytes { bytes.elementsEqual($0) }
    }
  }

  @_lifetime(copy text)
  private func name(of node: Node, in text: RawSpan) -> RawSpan {
    let start = Int(node.start)
    return text.extracting(start..<(start + Int(node.count)))
  }

  private mutating func grow(_ text: RawSpan) {
    slots = Array(repeating: -1, count: 2 * slots.count)
    for index in nodes.indices where nodes[index].isText {
      let name = name(of: nodes[index], in: text)
      let parent = Int(nodes[index].parent)
      slots[slot(of: parent, name, hash: TextHash.of(name), in: text)] = Int32(index)
    }
  }
}

/// The levels of a topic or filter, one after the other; there is at least one.
private struct Levels: ~Escapable {
  private let text: RawSpan
  private var start: Int? = 0

  @_lifetime(copy text)
  init(_ text: RawSpan) { self.text = text }

  /// Where the next level stands.
  mutating func next() -> Range<Int>? {
    guard let start else { return nil }
    var end = start
    text.withUnsafeBytes { bytes in
      while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
    }
    self.start = end < text.byteCount ? end + 1 : nil
    return start..<end
  }
}

/// Hashes text (FNV-1a), eight bits at a time: filters and topics are short.
enum TextHash {
  static func of(_ text: RawSpan) -> UInt64 {
    text.withUnsafeBytes { bytes in
      bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }
  }
}
