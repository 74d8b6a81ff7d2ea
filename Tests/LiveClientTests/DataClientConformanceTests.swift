import LiveClient
import LiveHTTP
import RepriseTesting
import Testing

/// The live clients keep to what a client owes, each on a server of its own.
@Suite struct DataClientConformanceTests {
  private static func broken(
    _ outcomes: [ClientObligation: DataClientConformance.Outcome]
  ) -> [ClientObligation] {
    outcomes.filter { $0.value != .kept && $0.value != .notApplicable }.map(\.key)
  }

  private static func applying(
    _ outcomes: [ClientObligation: DataClientConformance.Outcome]
  ) -> Int { outcomes.count { $0.value == .kept } }

  @Test(arguments: [MosquittoClient.Version.v3_1_1, .v5_0])
  func clientsOfABrokerAreOne(_ version: MosquittoClient.Version) async throws {
    let broker = try await WebSocketBroker()
    let mosquitto = try await DataClientConformance.check(patience: .seconds(300)) {
      try MosquittoClient(url: broker.broker.url, version: version)
    }
    let webSocket = try await DataClientConformance.check(patience: .seconds(300)) {
      try MQTTWebSocketClient(url: broker.url, version: version)
    }
    #expect(Self.broken(mosquitto) == [] && Self.broken(webSocket) == [])
    #expect(Self.applying(mosquitto) == 15 && Self.applying(webSocket) == 15)
  }

  @Test func aClientOfFramesIsOne() async throws {
    let server = try await PythonServer()
    let outcomes = try await DataClientConformance.check(patience: .seconds(300)) {
      try WebSocketClient(url: server.url("/echo"))
    }
    #expect(Self.broken(outcomes) == [] && Self.applying(outcomes) == 10)
  }

  @Test func aClientOfHTTPIsOne() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readHTTPRequest()
      socket.writeHTTPAnswer(Array("{}".utf8), status: "200 OK", isHead: false)
    }
    let outcomes = try await DataClientConformance.check(patience: .seconds(300)) {
      try HTTPClient(url: "http://127.0.0.1:\(server.port)")
    }
    #expect(Self.broken(outcomes) == [] && Self.applying(outcomes) == 5)
  }
}
