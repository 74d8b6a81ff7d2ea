/// A queue in a ring of slots: adding at the end and taking from the front cost the same however many wait.
///
/// Its indices count from the front.
package struct Fifo<Element>: RandomAccessCollection, MutableCollection {
  /// As many as a power of two, so that a mask finds a place in the ring; what was taken is let go of at once.
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var head = 0
  /// How many elements wait.
  @usableFromInline package var count = 0

  /// Creates an empty queue.
  @inlinable package init() {}

  /// The front.
  @inlinable package var startIndex: Int { 0 }
  /// Behind the end.
  @inlinable package var endIndex: Int { count }

  @inlinable func place(_ index: Int) -> Int { (head &+ index) & (slots.count &- 1) }

  /// The element at a distance from the front.
  @inlinable package subscript(index: Int) -> Element {
    get {
      guard index >= 0, index < count, let element = slots[place(index)] else {
        preconditionFailure("no element \(index) of \(count)")
      }
      return element
    }
    set {
      precondition(index >= 0 && index < count, "no element \(index) of \(count)")
      slots[place(index)] = newValue
    }
  }

  /// Adds an element at the end.
  @inlinable package mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[place(count)] = element
    count += 1
  }

  /// Takes the element that waits longest; nil when none does.
  @inlinable package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = place(1)
    count -= 1
    return element
  }

  /// Takes out every element that meets a condition, keeping the order of the others.
  @inlinable package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    var kept = Fifo()
    while let element = popFirst() {
      if !isUnwanted(element) { kept.append(element) }
    }
    self = kept
  }

  /// Takes the first element that meets a condition, keeping the order of the others; nil when none does.
  @inlinable package mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
    var found: Element?
    removeAll { element in
      guard found == nil, isWanted(element) else { return false }
      found = element
      return true
    }
    return found
  }

  @inlinable mutating func grow() {
    var larger = [Element?](repeating: nil, count: Swift.max(16, slots.count * 2))
    for offset in 0..<count { larger[offset] = slots[place(offset)] }
    slots = larger
    head = 0
  }
}

extension Fifo: Sendable where Element: Sendable {}
