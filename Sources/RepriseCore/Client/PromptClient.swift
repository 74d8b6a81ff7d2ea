/// A client that mostly has an event at once, and then costs its reader no suspension.
package protocol PromptClient: DataClient {
  /// Returns the next event, or the passing of a deadline, where nobody has to wait for it.
  /// - Parameter deadline: When to stop waiting, as ``DataClient/next(before:)`` takes it.
  /// - Returns: The event; nil where ``DataClient/next(before:)`` has to be asked, which waits or fails.
  /// - Throws: `CancellationError`.
  func nextAtOnce(before deadline: Timestamp?) throws -> ClientEvent?
}
