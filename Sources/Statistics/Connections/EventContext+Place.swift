import RepriseCore

extension EventContext {
  /// Where an event began that is told with a later frame.
  ///
  /// A recording says in which frame of its capture that was: its own lines are fewer, so that a number beyond the event's
  /// is none of them.
  /// - Parameter first: The number of the frame that the event tells.
  /// - Returns: That number, or the line of the event.
  func place(of first: Int) -> Int { min(first, frame) }
}
