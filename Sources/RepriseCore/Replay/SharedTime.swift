import Synchronization

/// One time for several replays, so that their events come in the order in which they were recorded.
///
/// An app with several clients hears on each of them. Where each is replayed in a time of its own, nothing says which
/// is first: what was heard at 10:00:03 on one may come before what was heard at 10:00:01 on another. Clients that
/// share a time are one world.
///
/// ```swift
/// let time = SharedTime()
/// let options = ReplayOptions(pace: .shared(time))
/// let cloud = try ReplayClient(contentsOf: "night.pcap", of: .client("hall"), options: options)
/// let family = try ReplayClient(contentsOf: "night.pcap", of: .client("family"), options: options)
/// ```
///
/// The recorded times are compared, so the sessions have to be of one clock: of one capture, or recorded by one process.
///
/// ## Whose turn it is
///
/// Each client keeps the rules of ``ReplayClient``. Besides, of all that the clients' readers wait for, the earliest comes
/// first, be it an event or a deadline. Of several at one moment first come deadlines, and then events, of clients that
/// act at that moment, as the rest may come of that; then other events, and then other deadlines; of equal ones that of
/// the client that was made first. It comes when
///
/// - every reader waits. One that has something in hand may have to do with it, so the others wait for it. They do for
///   a moment only: a reader may be held up by what another client has to bring, or may never come back. A task that
///   waits on another client of this time holds up nobody;
/// - every action that was recorded before it, on whichever client, is performed. For this the others wait as long as
///   ``ReplayOptions/patience`` says. Then the client that has the action is broken, and the others go on.
///
/// A client that nobody reads holds up nobody, but by its actions. One whose session is over says so at once by
/// ``ClientEvent/ended``, whatever the others still have, and is waited for no longer; nor is one that is broken,
/// finished or gone.
///
/// ## What time it is
///
/// While its reader waits, the time of a client is the shared one. In between it is that of what its reader got last, or
/// of an action that was performed since: so what an app counts from is the same in every run.
public final class SharedTime: Sendable {
  /// What the time knows of a client.
  struct Member: Sendable {
    /// Has its reader look again.
    let ring: @Sendable () -> Void
    /// Breaks it, as it has an action that nobody performs.
    let giveUp: @Sendable () -> Void
    /// Whether only readers act on it.
    let isOfReaders: Bool
  }

  private struct State {
    var world = SharedWorld()
    var members: [Member] = []
  }

  private let state = Mutex(State())

  /// Creates a time that no client shares yet.
  public init() {}

  /// Takes a client in.
  /// - Parameters:
  ///   - member: The client.
  ///   - tolerance: How much later than its actions a deadline may pass, in nanoseconds.
  ///   - action: When its first action was recorded; nil when it has none.
  /// - Returns: Its number.
  func join(_ member: Member, tolerance: Int64, nextAction action: Timestamp?) -> Int {
    state.withLock { state in
      state.members.append(member)
      return state.world.join(tolerance: tolerance, nextAction: action)
    }
  }

  /// Returns something of the world as it is.
  func read<Value: Sendable>(_ body: (SharedWorld) -> Value) -> Value {
    state.withLock { body($0.world) }
  }

  /// Changes the world.
  /// - Parameters:
  ///   - number: The client that changes it.
  ///   - body: The change.
  /// - Returns: What the body returns, and the member whose turn it is now, if that is another one.
  func change<Value: Sendable>(
    by number: Int, _ body: (inout SharedWorld) -> Value
  ) -> (value: Value, next: Member?) {
    state.withLock { state in
      let value = body(&state.world)
      guard let next = state.world.next, next != number else { return (value, nil) }
      return (value, state.members[next])
    }
  }

  /// Returns a member.
  func member(_ number: Int) -> Member { state.withLock { $0.members[number] } }
}
