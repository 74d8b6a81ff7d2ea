/// Messages that an application listens to with `for try await`.
///
/// It hears from the moment on when it was asked for. A filter that is none is an error when the first message is
/// waited for, so that a sequence can be asked for in the head of a loop.
public struct MessageSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  let content: Result<BroadcastSequence<Element>, Failure>

  init(_ listen: () throws(Failure) -> BroadcastSequence<Element>) {
    content = Result(catching: listen)
  }

  /// Returns what reads the messages.
  public func makeAsyncIterator() -> Iterator {
    switch content {
    case .success(let sequence): Iterator(messages: sequence.makeAsyncIterator(), error: nil)
    case .failure(let error): Iterator(messages: nil, error: error)
    }
  }

  /// Reads the messages.
  public struct Iterator: AsyncIteratorProtocol {
    var messages: BroadcastSequence<Element>.Iterator?
    let error: Failure?

    /// Returns the next message; nil when there are no more, or the task is cancelled.
    /// - Throws: What was wrong with the filter.
    public mutating func next() async throws(Failure) -> Element? {
      if let error { throw error }
      return await messages?.next()
    }
  }
}
