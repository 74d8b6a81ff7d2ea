/// A session that can be read more than once, from its beginning and always the same.
///
/// Code that needs a long session several times reads it again instead of keeping it. `SessionFile` of the module
/// Capture is a file as such a source.
public protocol SessionSource: Sendable {
  /// Begins to read at the beginning of the session.
  /// - Parameter take: What gets the events, one by one, each borrowed for the call; called only while
  ///   ``SessionReading/advance()`` runs.
  /// - Returns: What reads.
  /// - Throws: What keeps the session from being read.
  func open(_ take: @escaping (borrowing EventView) -> Void) throws -> any SessionReading
}

/// One pass through a session, as far as it was read.
public protocol SessionReading: AnyObject {
  /// Reads a little more: so much as is in memory anyhow.
  /// - Returns: Whether there is more; false means that all events were handed on.
  /// - Throws: What keeps the session from being read on.
  func advance() throws -> Bool
}
