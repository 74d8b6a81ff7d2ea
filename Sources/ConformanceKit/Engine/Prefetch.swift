internal import CConformance

// Much of the judge's time would go to waiting for memory: what is known of many connections and messages is larger than
// the caches near the processor, and each packet is about another one of them. What a rule looks at is asked for some
// rules before it.

extension Array {
  /// Has an element at hand that is looked at soon; there need be none at the index.
  @inline(__always)
  func prefetch(_ index: Int) {
    guard index >= 0, index < count else { return }
    withUnsafeBufferPointer { elements in
      guard let base = elements.baseAddress else { return }
      conformance_prefetch(base + index, MemoryLayout<Element>.stride)
    }
  }
}
