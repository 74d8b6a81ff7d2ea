import Glibc
import RepriseCore
import SessionReplay
import Wire

/// A connection of a replay, and the end that is played on it.
final class ReplayLink {
  let connection: any ReplayConnection
  /// The end that is played; nil as long as nobody knows which one.
  var end: ReplayedEnd?
  /// The place of its connection in the session; nil as long as nobody knows it.
  var index: Int?
  /// When it was begun.
  let begin: Timestamp
  /// When it is ended by force, where all of the recording has happened on it.
  var leaving: Timestamp?
  /// When all that a client does had happened on it.
  var left: Timestamp?
  /// When a client last said that it lives, without having anything else to say.
  var lastPing: Timestamp?
  /// Whether the end of the connection was taken note of.
  var isSettled = false

  /// How long the other end may take to close a connection on which all has happened.
  static let grace: Duration = .seconds(2)

  init(_ connection: any ReplayConnection, at now: Timestamp) {
    (self.connection, begin) = (connection, now)
  }

  /// Whether the other end is gone, and nobody has taken note of it.
  var hasNewEnd: Bool { !isSettled && (connection.hasEnded || connection.isOver) }

  /// Where the session has the end of the connection, as long as the server may not have seen it: what other clients do
  /// behind that has to wait, or it may be read first.
  /// - Parameter now: The time.
  /// - Returns: The number of the step; nil where nobody waits for it.
  func awaitedEnd(_ now: Timestamp) -> Int? {
    guard let end, end.isDone, end.script.hasEnd, !isSettled else { return nil }
    if let left, left.advanced(by: Self.grace) <= now { return nil }
    return end.script.steps.last?.order
  }

  /// Takes what the other end said.
  /// - Parameters:
  ///   - unit: It.
  ///   - now: The time.
  ///   - tempo: How fast the session goes.
  ///   - news: What is told of it.
  /// - Returns: The step of the session that it is; nil where it is none.
  func take(
    _ unit: ReplayUnit, _ now: Timestamp, by tempo: inout ReplayTempo, _ news: inout ReplayNews
  ) -> Int? {
    switch end?.take(unit, at: now, by: &tempo) {
    case .passed(let isPing): if isPing { connection.pong(now) }
    case .diverged(let divergence): news.diverge(divergence)
    case .matched(let step):
      guard let end else { break }
      news.append(unit.event(at: end.script.steps[step].place, from: end.own.other, now))
      return step
    case nil: break
    }
    return nil
  }

  /// What is said where the other end says something else than the language of the session.
  var strangeness: String { "sends what is no \(type(of: connection).language)" }

  /// Ends the connection as it was ended.
  func close(_ how: ConnectionClosing.How, _ now: Timestamp) {
    if how == .reset { connection.reset(now) } else { connection.finish(now) }
  }
}

extension CaseStream.Phase {
  /// How long a server may take until a connection is there.
  static let patience: Duration = .seconds(10)

  /// Why a server can't be reached; nil where it can, or may still be.
  /// - Parameters:
  ///   - begin: When the connection was begun.
  ///   - now: The time.
  /// - Returns: The reason, for people.
  func problem(since begin: Timestamp, _ now: Timestamp) -> String? {
    if case .over(let why?) = self { return why }
    guard self == .opening, begin.advanced(by: Self.patience) <= now else { return nil }
    return "no answer in 10 s"
  }
}
