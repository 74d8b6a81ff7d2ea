import CloudSimulator
import ConformanceKit
import RepriseCore

/// A world in process and in virtual time, whose server of requests is played by a simulator.
struct SimulatedRequestWorld: ScenarioWorld {
  private let server: InProcessRequestServer

  /// Creates a world in which nothing has happened.
  /// - Parameter script: How the server behaves.
  init(_ script: RequestScript) { server = InProcessRequestServer(script) }

  /// The client that the subject lives on.
  var client: any DataClient { server }

  /// Breaks the connection; everything else the server does by itself.
  /// - Parameter step: What the cloud does.
  /// - Throws: `DataClientError` for what a simulator is not told.
  func perform(_ step: CloudStep) async throws {
    switch step {
    case .act, .close: return
    case .lose: server.drop()
    case .accept, .refuse, .grant, .acknowledge, .send, .hangUp, .frame:
      throw DataClientError(
        .unsupported, "the server of this scenario acts by itself; write \"cloud\": \"acts\"")
    }
  }

  /// Ends the world.
  func end() async throws { server.end() }
}
