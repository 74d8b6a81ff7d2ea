/// A queue in a ring of slots: adding and taking cost the same however many wait.
struct Fifo<Element> {
  private var slots: [Element?] = []
  private var head = 0
  /// How many elements wait.
  private(set) var count = 0

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// The element that waits longest.
  var first: Element? { count == 0 ? nil : slots[head] }

  /// Adds an element at the end.
  mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head + count) % slots.count] = element
    count += 1
  }

  /// Takes the element that waits longest.
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) % slots.count
    count -= 1
    return element
  }

  /// Takes out every element that does not meet a condition, keeping the order of the others.
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    var kept = Fifo()
    while let element = popFirst() {
      if !isUnwanted(element) { kept.append(element) }
    }
    self = kept
  }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(16, slots.count * 2))
    for offset in 0..<count { larger.append(slots[(head + offset) % slots.count]) }
    while larger.count < larger.capacity { larger.append(nil) }
    slots = larger
    head = 0
  }
}

extension Fifo: Sendable where Element: Sendable {}
