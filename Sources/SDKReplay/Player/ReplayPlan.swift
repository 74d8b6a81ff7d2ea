package import DeviceSDK
package import RepriseCore

/// What an application did to make a recorded session, told from the session alone, and the machine of the SDK that it
/// did it with.
///
/// The packets that the machine sends by itself are its work again in a replay. Any other packet is there because the
/// application called something, and a plan knows what. A ``SystemReplay`` makes the calls.
package protocol ReplayPlan: Sendable {
  /// The machine.
  associatedtype Machine: OutlinedMachine
  /// How a session ends, as the application knows it.
  associatedtype Ending: Sendable

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the application's client and its server said to each other.
  /// - Throws: `DataClientError` when it is another system's session, or none that can be played.
  init(_ dialogue: ReplayDialogue) throws(DataClientError)

  /// Whose session it is, for people: `app dev1&a1pk`.
  var subject: String { get }
  /// What was taken for granted, one sentence each, to be shown to people.
  var notes: [String] { get }
  /// Which values differ from run to run.
  var roles: ReplayRoles { get }
  /// Whether the session ends while its last connection is open.
  var breaksOff: Bool { get }
  /// How late a timer of the recorded machine was at most; see ``TimelyClient``.
  var timerSlack: Duration { get }
  /// Whether an action is the work of such a timer, whatever the application does.
  func isOfTimer(_ action: ClientAction.Kind) -> Bool

  // MARK: The machine

  /// Makes the machine as it is when the session begins.
  /// - Parameter capabilities: What its client can do.
  /// - Returns: The machine.
  /// - Throws: What the machine throws when the session's values are none that it takes.
  func makeMachine(_ capabilities: Capabilities) throws -> Machine
  /// The call that closes what the machine has opened.
  var goodbye: Machine.Call { get }
  /// Takes events until the world or the scope ends; code that is generic over the machine would be three times as
  /// slow.
  /// - Parameter driver: The machine's driver.
  /// - Throws: What broke the client's world, and `CancellationError`.
  static func loop(_ driver: Driver<Machine>) async throws

  // MARK: The application

  /// Returns what the application called when its client did something that the machine does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - machine: The machine as it is.
  ///   - ending: What was told so far.
  /// - Returns: The calls, in their order; none when no call brings the action about.
  func calls(for ordinal: Int, on machine: Machine, _ ending: Ending) -> [Machine.Call]
  /// Returns calls that send an action just as it is, where ``calls(for:on:_:)`` sends nothing.
  ///
  /// The machine may be still at what the recorded client had given up, and do the same only once.
  /// - Parameter ordinal: The number of the action in the session, from 0.
  /// - Returns: The calls; none when the system has none that are so plain.
  func plainCalls(for ordinal: Int) -> [Machine.Call]
  /// Returns what the application does at once when it is told something: what its own code answers, and what it did
  /// while there was no connection, which shows in how the next one begins only.
  /// - Parameters:
  ///   - effect: What it is told.
  ///   - machine: The machine as it is.
  ///   - time: When.
  /// - Returns: The calls, in their order.
  func answers(to effect: Machine.Effect, on machine: Machine, at time: Timestamp) -> [Machine.Call]
  /// Returns a call in words; nil when it is not worth a line.
  func words(for call: Machine.Call) -> ReplayedCall.Words?
  /// Returns why no call brings an action about, for people.
  func reason(against action: ClientAction.Kind?) -> String

  // MARK: What is told

  /// Whether what the machine tells is worth a line.
  static func isShown(_ effect: Machine.Effect) -> Bool
  /// How a session ends in which nothing happens.
  static var start: Ending { get }
  /// Notes what the machine tells.
  static func note(_ effect: Machine.Effect, in ending: inout Ending)
}

extension ReplayPlan {
  package var roles: ReplayRoles { .standard }
  package func plainCalls(for ordinal: Int) -> [Machine.Call] { [] }
  package var timerSlack: Duration { .zero }
  package func isOfTimer(_ action: ClientAction.Kind) -> Bool { false }
  package static func isShown(_ effect: Machine.Effect) -> Bool { true }
  package func answers(
    to effect: Machine.Effect, on machine: Machine, at time: Timestamp
  ) -> [Machine.Call] { [] }
}
