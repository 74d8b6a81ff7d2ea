import LiveHTTP
import RepriseCore
import TestSupport
import Testing

/// One request, answered by a folder of files and by a server of HTTP that says the same.
@Suite struct PlaceSuggestionTests {
  private static let path = "/ws/place/v1/suggestion/"

  /// The service: answers as the folder does.
  private static func server() throws -> ScriptedServer {
    let body = Child.bytes(of: PlaceSuggestion.folder + "/suggestion/response.json")
    return try ScriptedServer { socket in
      switch socket.readHTTPRequest().line {
      case "GET \(path)?keyword=noodles&region=Musterstadt HTTP/1.1": socket.writeHTTPAnswer(body)
      case "GET \(path)?region=Nowhere HTTP/1.1":
        socket.writeHTTPAnswer([], status: "404 Not Found")
      default: socket.writeHTTPAnswer(Array("<html>".utf8))
      }
    }
  }

  /// What a request comes to; the text of an error instead of an answer.
  private static func outcome(
    _ client: any DataClient, _ parameters: [String: String]
  ) async throws -> Result<RestaurantTotal, DataClientError> {
    do {
      let request = PlaceSuggestion(parameters: parameters)
      return .success(try await client.send(request, timeout: .seconds(600)))
    } catch let error as DataClientError { return .failure(error) }
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [["region": "Musterstadt", "keyword": "noodles"], ["region": "Nowhere"]])
  func isAnsweredAsFromFiles(_ parameters: [String: String]) async throws {
    let server = try Self.server()
    let live = try HTTPClient(url: "http://127.0.0.1:\(server.port)/ws/place/v1/")
    let files = try LocalFileClient(folder: PlaceSuggestion.folder)
    let expected = try await Self.outcome(files, parameters)
    #expect(try await Self.outcome(live, parameters) == expected)
    switch expected {
    case .success(let total): #expect(total.data.first?.title == "Nudelhaus am Markt")
    case .failure(let error): #expect(error.code == .rejected)
    }
  }

  @Test(.timeLimit(.minutes(5))) func whatIsNoAnswerIsTold() async throws {
    let server = try Self.server()
    let live = try HTTPClient(url: "http://127.0.0.1:\(server.port)/ws/place/v1/")
    guard case .failure(let error) = try await Self.outcome(live, [:]) else {
      Issue.record("answered")
      return
    }
    #expect(error.code == .undecodable)
    #expect(error.message.hasPrefix("the answer to suggestion/ is no RestaurantTotal: "))
  }
}
