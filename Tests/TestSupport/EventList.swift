public import RepriseCore

/// A consumer that keeps the events it is given.
public struct EventList: EventConsumer {
  /// The events, in order.
  public private(set) var events: [Event] = []
  /// What the reader of a recording noted.
  public private(set) var notes: [String] = []

  /// Creates an empty list.
  public init() {}

  /// Reads a recording.
  /// - Parameter recording: Its bytes.
  /// - Throws: `RecordingError` if they are none.
  public init(recording: [UInt8]) throws {
    var stream = RecordingStream()
    try stream.consume(recording.span.bytes, into: &self)
    try stream.finish(into: &self)
    notes = stream.notes
  }

  /// Keeps an event.
  public mutating func consume(_ event: borrowing EventView) {
    events.append(Event(copying: event))
  }
}
