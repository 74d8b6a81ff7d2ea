import Glibc
import RepriseCore
import SessionReplay

/// A connection of a replay, whatever is spoken on it.
protocol ReplayConnection: AnyObject {
  /// What is spoken, for people: `MQTT`.
  static var language: String { get }
  /// How far it is: it is open once something can be said.
  var phase: CaseStream.Phase { get }
  /// Whether the other end sends nothing more.
  var hasEnded: Bool { get }
  /// Whether it is over for both ends.
  var isOver: Bool { get }
  /// Whether something else than the language came.
  var isStrange: Bool { get }
  /// What `poll` is to be asked.
  var interest: pollfd { get }
  /// When something is to be sent by itself; nil where nothing is.
  var wakeTime: Timestamp? { get }

  /// Does what the socket is ready for.
  /// - Parameters:
  ///   - events: What `poll` said.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  /// - Returns: What the other end said.
  func receive(_ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp) -> [ReplayUnit]
  /// Sends what is due by itself.
  func goOn(_ now: Timestamp)
  /// Says something.
  /// - Parameters:
  ///   - unit: What was said in the session.
  ///   - now: The time.
  /// - Returns: What is said in this run, which has a handshake of its own.
  func send(_ unit: ReplayUnit, _ now: Timestamp) -> ReplayUnit
  /// Asks whether the other end lives, by which it knows that this one does.
  func ping(_ now: Timestamp)
  /// Answers that.
  func pong(_ now: Timestamp)
  /// Says farewell in the middle of a session, and ends the connection.
  func leave(_ now: Timestamp)
  /// Ends the connection, behind all that was said.
  func finish(_ now: Timestamp)
  /// Breaks the connection off.
  func reset(_ now: Timestamp)
}
