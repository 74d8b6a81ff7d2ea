/// A queue whose elements keep their numbers while the ones before them are dropped.
struct ReplayQueue<Element> {
  private var elements = Fifo<Element>()
  /// The number of the first element that is there.
  private(set) var start = 0

  /// How many elements are there.
  var count: Int { elements.count }

  /// The number that the next element will have.
  var end: Int { start + count }

  /// The first element that is there.
  var first: Element? { elements.first }

  /// Returns the element of a number; nil when it is dropped, or not there yet.
  @inline(__always)
  subscript(number: Int) -> Element? {
    guard number >= start, number < end else { return nil }
    return elements[number - start]
  }

  /// Changes the element of a number, if it is there.
  mutating func change(_ number: Int, _ change: (inout Element) -> Void) {
    guard number >= start, number < end else { return }
    change(&elements[number - start])
  }

  /// Adds elements at the end.
  mutating func append(contentsOf others: [Element]) {
    for element in others { elements.append(element) }
  }

  /// Adds an element at the end.
  mutating func append(_ element: Element) { elements.append(element) }

  /// Drops the first element.
  mutating func removeFirst() {
    if elements.popFirst() != nil { start += 1 }
  }
}

extension ReplayQueue: Sendable where Element: Sendable {}
