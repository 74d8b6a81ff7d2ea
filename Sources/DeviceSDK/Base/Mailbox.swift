import Synchronization

/// Keeps the newest elements for one reader, who takes all there are at once.
final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    /// Where the oldest element is, once the newest have taken the places of older ones.
    var oldest = 0
    var reader: CheckedContinuation<Void, Never>?
    var isFinished = false

    /// Takes out all elements, the oldest first.
    mutating func takeAll() -> [Element] {
      defer {
        elements = []
        oldest = 0
      }
      return oldest == 0 ? elements : Array(elements[oldest...] + elements[..<oldest])
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = max(1, limit) }

  /// Puts an element in; false when the oldest was dropped for it.
  func put(_ element: Element) -> Bool {
    let (reader, isKept) = state.withLock {
      state -> (CheckedContinuation<Void, Never>?, Bool) in
      guard state.elements.count == limit else {
        state.elements.append(element)
        return (state.reader.take(), true)
      }
      state.elements[state.oldest] = element
      state.oldest = (state.oldest + 1) % limit
      return (nil, false)
    }
    reader?.resume()
    return isKept
  }

  /// Puts elements that were taken back before those that came since.
  /// - Parameter older: The elements.
  /// - Returns: How many of them were dropped, the oldest, as there was no room.
  func putBack(_ older: ArraySlice<Element>) -> Int {
    let (reader, dropped) = state.withLock {
      state -> (CheckedContinuation<Void, Never>?, Int) in
      let newer = state.takeAll()
      let kept = older.suffix(max(0, limit - newer.count))
      state.elements = kept + newer
      return (state.reader.take(), older.count - kept.count)
    }
    reader?.resume()
    return dropped
  }

  /// There will be no more elements.
  func finish() {
    let reader = state.withLock { state in
      state.isFinished = true
      return state.reader.take()
    }
    reader?.resume()
  }

  /// Takes all elements, the oldest first; nil when there are none and never will be.
  private func take() -> [Element]? {
    state.withLock { state in
      guard !state.elements.isEmpty else { return state.isFinished ? nil : [] }
      return state.takeAll()
    }
  }

  /// Waits for elements and takes them all.
  /// - Returns: At least one; nil when there are no more, or the task is cancelled.
  func next() async -> [Element]? {
    // In a flood the next element is nearly there: who lets others go first is not woken for each.
    for _ in 0..<Self.patience {
      guard let elements = take() else { return nil }
      if !elements.isEmpty { return elements }
      await Task.yield()
    }
    while !Task.isCancelled {
      guard let elements = take() else { return nil }
      if !elements.isEmpty { return elements }
      await sleep()
    }
    return nil
  }

  private static var patience: Int { 4 }

  private func sleep() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let mustWait = state.withLock { state in
          guard state.elements.isEmpty, !state.isFinished, !Task.isCancelled else { return false }
          state.reader = reader
          return true
        }
        if !mustWait { reader.resume() }
      }
    } onCancel: {
      let reader = state.withLock { $0.reader.take() }
      reader?.resume()
    }
  }
}
