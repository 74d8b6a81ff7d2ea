import CloudSimulator
import DeviceSDK
import LiveClient
import RepriseCore

/// Runs a simulated server of requests on a real WebSocket.
func withRequestServer<Result: Sendable>(
  _ script: String = "{}", _ options: WebSocketServerOptions = WebSocketServerOptions(),
  _ body: @Sendable @escaping (WebSocketServer) async throws -> Result
) async throws -> Result {
  let simulator = RequestSimulator(try RequestScript(parsing: Array(script.utf8)))
  return try await withWebSocketServer(options) { server in
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await server.serve { connection in
          try await simulator.run(
            on: ServerSideClient(connection), isOpen: true, drop: { try connection.drop() })
        }
      }
      let result = try await body(server)
      group.cancelAll()
      return result
    }
  }
}

/// A request of a test.
struct Question: RequestTarget {
  var service: String
  var parameters: JSONValue = ["a": 1]
  var timeout: Duration? = .seconds(120)
}

extension RequestProvider<Question> {
  /// A provider with a WebSocket of its own, which says nothing on its own and connects again at once.
  convenience init(_ url: String, _ envelope: RequestEnvelope = RequestEnvelope()) throws {
    var configuration = RequestConfiguration()
    configuration.format = JSONRequestFormat(envelope)
    configuration.reconnect = BackOff(
      first: .milliseconds(1), longest: .milliseconds(1), jitterPercent: 0)
    configuration.connectTimeout = .seconds(120)
    configuration.whileConnecting = .queue(limit: 10)
    configuration.heartbeatInterval = nil
    self.init(client: try WebSocketClient(url: url), configuration: configuration)
  }

  /// What comes of a request.
  func outcome(_ service: String, timeout: Duration = .seconds(120)) async throws -> String {
    do {
      let answer = try await answer(to: Question(service: service, timeout: timeout))
      return String(decoding: answer.content.utf8, as: UTF8.self)
    } catch let error as RequestError {
      return "\(error.kind)"
    }
  }
}
