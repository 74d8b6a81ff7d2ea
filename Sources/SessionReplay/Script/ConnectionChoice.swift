package import RepriseCore
import Wire

/// Which recorded connection a client gets that connects to the recorded server.
///
/// It is the next one of a client of its name, or with the target that it asks for; where the session has no such client
/// at all, the next one that is free.
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
  /// - Parameter first: What the client said first.
  /// - Returns: The place of the connection among those of the script; nil where there is none for it.
  package mutating func take(for first: ReplayUnit) -> Int? {
    guard let own = own(of: first) else { return nil }
    guard let place = own.isEmpty ? next : own.first(where: { isFree[$0] }) else { return nil }
    isFree[place] = false
    return place
  }

  /// The places of the connections that are a client's own, by what it said first; nil where that begins no connection.
  private func own(of first: ReplayUnit) -> [Int]? {
    switch first {
    case .packet(let packet):
      guard case .connect(let connect) = packet.decoded?.content else { return nil }
      return script.connections.indices.filter {
        script.connections[$0].clientID == connect.clientID
      }
    case .handshake(.request(let request)):
      return script.connections.indices.filter {
        script.connections[$0].language == .webSocket(target: request.target)
      }
    case .handshake, .frame: return nil
    }
  }

  /// What is said of a client that gets no connection.
  /// - Parameters:
  ///   - first: What it said first.
  ///   - settings: How the session is replayed.
  /// - Returns: The divergence.
  package func refusal(of first: ReplayUnit, _ settings: ReplaySettings) -> ReplayDivergence {
    guard let own = own(of: first) else {
      let step = next.map { script.connections[$0].steps[0] }
      return divergence(.otherAction, step, step?.summary, first.summary, settings)
    }
    let last = own.last.map { script.connections[$0] }
    let name = last.map { $0.clientID.isEmpty ? "" : " of \($0.clientID)" } ?? ""
    let step = (last ?? script.connections.last)?.steps.last
    return divergence(
      .extraAction, step, "no other connection\(name)", first.summary, settings)
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
