/// What a client and its server say to each other in a session, from its beginning to its end.
///
/// It is the view of whoever has to know what comes: the people of the recorded application are played by
/// looking ahead to what they brought about. Nothing is consumed by it, and a ``ReplayClient`` of the same
/// events hands out the same events and waits for the same actions, by the same rules.
///
/// ```swift
/// let dialogue = try events.dialogue()
/// for step in dialogue {
///   if case .event(.message(let message)) = step.content { print(step.place, message.topic) }
/// }
/// let client = try ReplayClient(events)
/// ```
///
/// The dialogue ends before the first hole of the session, where a replay does too. It can be walked through as
/// often as one likes, and holds no packet twice; a session that is too long to be kept is read again for it.
public struct ReplayDialogue: Sequence, Sendable {
  private let session: ReplaySession

  init(_ session: ReplaySession) { self.session = session }

  /// One thing that is said.
  public struct Step: Sendable {
    /// Where it stands in the session.
    public let place: ReplayPlace
    /// What it is.
    public let content: Content
    /// Whether it is the opening of a connection that was open before the capture began.
    public let isImplied: Bool

    package init(place: ReplayPlace, content: Content, isImplied: Bool) {
      self.place = place
      self.content = content
      self.isImplied = isImplied
    }
  }

  /// What can be said.
  public enum Content: Sendable {
    /// The client did something. Its identifier is its number among the session's actions, from 0, which
    /// is ``ReplayExpectation/ordinal`` too.
    case action(ClientAction)
    /// The client was told something; answers name the number of the action.
    case event(ClientEvent)
  }

  /// Walks through a dialogue.
  public struct Iterator: IteratorProtocol {
    private var machine: ReplayMachine
    private var isOver = false

    init(_ session: ReplaySession) { machine = ReplayMachine(session, ReplayOptions()) }

    /// Returns the next step; nil at the end, and where nobody can say how it goes on.
    public mutating func next() -> Step? {
      guard !isOver else { return nil }
      if let step = find() { return step }
      isOver = true
      return nil
    }

    private mutating func find() -> Step? {
      guard let step = try? machine.advance(to: nil) else { return nil }
      switch step {
      case .event(let event):
        guard event != .ended, let place = machine.cause.place else { return nil }
        return Step(place: place, content: .event(event), isImplied: false)
      case .wait:
        guard let step = machine.performAsRecorded() else { return nil }
        return Step(place: step.place, content: .action(step.action), isImplied: step.isImplied)
      // Only time that is not jumped over has to be slept, and only one that is shared has turns.
      case .sleep, .turn: return nil
      }
    }
  }

  /// Returns what walks through the dialogue from its beginning.
  public func makeIterator() -> Iterator { Iterator(session) }
}

extension ReplayEvents {
  /// Returns what the chosen client and its server say to each other.
  /// - Returns: The dialogue.
  /// - Throws: ``DataClientError`` when there is no such client, or more than one.
  public func dialogue() throws(DataClientError) -> ReplayDialogue {
    ReplayDialogue(try session())
  }
}
