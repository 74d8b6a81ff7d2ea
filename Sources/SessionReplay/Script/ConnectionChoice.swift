package import RepriseCore
import Wire

/// Which recorded connection a client gets that connects to the recorded server.
///
/// It is the next one of a client of its name; where the session has no such client at all, the next one that is free.
package struct ConnectionChoice: Sendable {
  private let script: SessionScript
  private var isFree: [Bool]

  /// Lets all connections of a session be free.
  package init(_ script: SessionScript) {
    self.script = script
    isFree = script.connections.map { _ in true }
  }

  /// The first connection that nobody has taken; nil where all are.
  package var next: Int? { isFree.firstIndex(of: true) }

  /// Takes a connection for a client.
  /// - Parameter connect: What the client sent first.
  /// - Returns: The place of the connection among those of the script; nil where there is none for it.
  package mutating func take(for connect: ReplayPacket) -> Int? {
    guard case .connect(let fields) = connect.decoded?.content else { return nil }
    let own = script.connections.indices.filter {
      script.connections[$0].clientID == fields.clientID
    }
    guard let place = own.isEmpty ? next : own.first(where: { isFree[$0] }) else { return nil }
    isFree[place] = false
    return place
  }

  /// What is said of a client that gets no connection.
  /// - Parameters:
  ///   - packet: What it sent first.
  ///   - settings: How the session is replayed.
  /// - Returns: The divergence.
  package func refusal(of packet: ReplayPacket, _ settings: ReplaySettings) -> ReplayDivergence {
    guard case .connect(let connect) = packet.decoded?.content else {
      let step = next.map { script.connections[$0].steps[0] }
      return divergence(.otherAction, step, step?.summary, packet.summary, settings)
    }
    let own = script.connections.last { $0.clientID == connect.clientID }
    let expected = own.map { "no other connection of \($0.clientID)" } ?? "no other connection"
    let step = (own ?? script.connections.last)?.steps.last
    return divergence(.extraAction, step, expected, packet.summary, settings)
  }

  /// What is said where nobody comes for a connection any more; nil where all are taken.
  /// - Parameters:
  ///   - why: Why nobody comes.
  ///   - settings: How the session is replayed.
  /// - Returns: The divergence.
  package func absence(_ why: String, _ settings: ReplaySettings) -> ReplayDivergence? {
    guard let next else { return nil }
    let step = script.connections[next].steps[0]
    return divergence(.missingAction, step, step.summary, why, settings)
  }

  private func divergence(
    _ kind: ReplayDivergence.Kind, _ step: ScriptStep?, _ expected: String?, _ actual: String,
    _ settings: ReplaySettings
  ) -> ReplayDivergence {
    ReplayDivergence(
      kind: kind, place: step?.place, expected: expected, actual: actual, differences: [],
      remedy: step.map { $0.place.inspection(of: settings.options.source ?? "FILE") } ?? "",
      advice: ["if the client is right: record the session anew"])
  }
}
