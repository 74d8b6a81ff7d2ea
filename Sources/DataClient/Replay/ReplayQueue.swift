/// A queue whose elements keep their numbers while the ones before them are dropped.
struct ReplayQueue<Element> {
  private var slots: [Element] = []
  /// How many slots are dropped already.
  private var head = 0
  /// The number of the first element that is there.
  private(set) var start = 0

  /// How many elements are there.
  var count: Int { slots.count - head }

  /// The number that the next element will have.
  var end: Int { start + count }

  /// The first element that is there.
  var first: Element? { count > 0 ? slots[head] : nil }

  /// Returns the element of a number; nil when it is dropped, or not there yet.
  @inline(__always)
  subscript(number: Int) -> Element? {
    guard number >= start, number < end else { return nil }
    return slots[head + (number - start)]
  }

  /// Changes the element of a number, if it is there.
  mutating func change(_ number: Int, _ change: (inout Element) -> Void) {
    guard number >= start, number < end else { return }
    change(&slots[head + (number - start)])
  }

  /// Adds elements at the end.
  mutating func append(contentsOf elements: [Element]) { slots += elements }

  /// Adds an element at the end.
  mutating func append(_ element: Element) { slots.append(element) }

  /// Drops the first element.
  mutating func removeFirst() {
    guard count > 0 else { return }
    head += 1
    start += 1
    // Moving the rest only when it is the smaller half makes it a constant cost an element.
    guard head > 64, head > slots.count / 2 else { return }
    slots.removeFirst(head)
    head = 0
  }
}

extension ReplayQueue: Sendable where Element: Sendable {}
