/// The world that application code lives in: a broker, a folder of files, or a capture of last Tuesday.
///
/// Code that is written against a data client can't tell which world it is. Besides sending and
/// receiving, a client owns **time**: its user never looks at a clock and never sleeps, but asks for
/// the next event or a deadline, whichever is first. A live client waits for it; a replaying client
/// jumps there.
///
/// ## Writing another client
///
/// A conformer owes its users the following.
///
/// - **Actions.** ``perform(_:)`` returns as soon as the action is handed to the transport, in the
///   order of the calls. It never waits for an answer: answers are events that carry the action's
///   ``ClientAction/ID``. It throws, and hands over nothing, when the action can't be expressed, when a
///   capability is missing (``DataClientError/Code/unsupported``), or when it needs a connection and
///   there is none (``DataClientError/Code/notConnected``). What was refused is never sent later.
/// - **Events.** ``next(before:)`` hands out events one at a time, in the order in which they happened,
///   each exactly once. Every `connect` is answered by exactly one ``ClientEvent/connected(_:)`` or
///   ``ClientEvent/closed(_:)``, every connection ends with exactly one ``ClientEvent/closed(_:)``, and
///   after it no event of that connection comes.
/// - **Answers.** Every other action is answered at most once: by its own event, or by
///   ``ClientEvent/failed(_:_:)`` when it came to nothing after it was handed over. Each answer of a
///   server that refuses an UNSUBSCRIBE or a message (MQTT 5.0: any reason code from 0x80 on in UNSUBACK,
///   PUBACK or PUBREC) is told as ``ActionFailure/refused(code:reason:)``, never as success; a
///   SUBSCRIBE's are told by ``ClientEvent/subscribed(_:_:)``, filter by filter. A request that gets no
///   answer is told as ``ActionFailure/unanswered(_:_:)``. What was open on a connection that is closed
///   gets no event of its own, unless a later connection takes up its session and brings the answer.
///   A server of MQTT 3.1.1 has no way to refuse a message (section 3.3.5); its `published` says that
///   it has it, and ``Capabilities/refusals`` is missing.
/// - **Time.** ``now`` never runs backwards and does not move between two calls of ``next(before:)``
///   that find an event waiting. When the deadline is reached first, ``next(before:)`` returns
///   ``ClientEvent/deadline`` and `now` is not before it.
/// - **Waking.** ``wake()`` makes a pending ``next(before:)``, or the next one if none is pending, return
///   ``ClientEvent/woken``; no event is lost by it. That is how a deadline that has changed is told.
/// - **The end.** A world that has no more events, now or ever, says so by ``ClientEvent/ended``, again
///   at each call. A live client never does.
/// - **Cancellation.** A cancelled task gets a `CancellationError` from ``next(before:)`` and loses no
///   event; the next call by another task returns it.
/// - **Back-pressure.** A client keeps a bounded number of events for a slow user, and says in its own
///   documentation what happens beyond.
/// - **One reader.** Only one task calls ``next(before:)`` at a time; ``perform(_:)`` and ``wake()``
///   may be called by any.
///
/// ## Why waking is a requirement
///
/// Cancelling the task that waits and asking anew in another one loses no event either, and so could stand in the place
/// of ``wake()``. But a task can't be taken back from its cancellation: each wait would need a task of its own, also the
/// most frequent one, that finds an event waiting and suspends nobody. And whether the cancellation or an event that
/// comes at the same moment is first would be up to the scheduler, where a replay has to go the same way each time:
/// ``ClientEvent/woken`` is an event among the others, at a place that the client decides.
public protocol DataClient: Sendable {
  /// What the transport and the peer can do; asked before an action is tried.
  var capabilities: Capabilities { get }

  /// The time in this world.
  var now: Timestamp { get }

  /// Hands an action to the transport.
  /// - Parameter action: What to do.
  /// - Throws: ``DataClientError`` when nothing was handed over.
  func perform(_ action: ClientAction) async throws

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting; nil waits for an event however long it takes.
  /// - Returns: The event.
  /// - Throws: ``DataClientError`` when this world is broken (a replay diverged), and
  ///   `CancellationError`.
  func next(before deadline: Timestamp?) async throws -> ClientEvent

  /// Makes a pending call of ``next(before:)`` return ``ClientEvent/woken``.
  func wake()
}
