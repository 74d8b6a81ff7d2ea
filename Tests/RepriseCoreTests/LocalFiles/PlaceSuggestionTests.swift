import RepriseCore
import TestSupport
import Testing

@Suite struct PlaceSuggestionTests {
  @Test func firstRestaurantIsFound() async throws {
    let client = try LocalFileClient(folder: PlaceSuggestion.folder)
    let request = PlaceSuggestion(parameters: ["region": "Musterstadt", "keyword": "noodles"])
    for _ in 0..<2 {
      let total = try await client.send(request)
      #expect(total.status == 0)
      // The count is that of all places; a page has a few of them.
      #expect(total.count == 42)
      #expect(total.data.count == 2)
      #expect(total.data.first?.title == "Nudelhaus am Markt")
      #expect(total.data.first?.location.lng == 11.5)
    }
  }

  @Test func parametersChooseAnotherAnswer() async throws {
    let client = try LocalFileClient(folder: PlaceSuggestion.folder)
    let start = client.now
    let request = PlaceSuggestion(parameters: ["region": "Nowhere", "keyword": "noodles"])
    let error = await #expect(throws: DataClientError.self) { try await client.send(request) }
    #expect(error?.code == .rejected)
    #expect(error?.message == "suggestion/ was answered by status 404")
    #expect(client.now == start.advanced(by: .milliseconds(200)))
  }

  @Test func answerInTimeIsNotEnough() async throws {
    let client = try LocalFileClient(folder: PlaceSuggestion.folder)
    let request = PlaceSuggestion(parameters: ["region": "Nowhere"])
    let error = await #expect(throws: DataClientError.self) {
      try await client.send(request, timeout: .milliseconds(100))
    }
    #expect(error?.code == .timedOut)
  }

  @Test(arguments: [
    (#"{"status":0}"#, "the key \"message\" is missing at $"),
    (
      #"{"status":0,"message":"","count":1,"request_id":"","data":[{"id":7}]}"#,
      "at $.data[0].id"
    ),
    (#""text""#, "at $"),
    // The service's own failure, in an answer that HTTP calls a success.
    (#"{"status":310,"message":"no such region"}"#, "status 310: no such region at $.status"),
  ])
  func saysWhereAnAnswerIsWrong(_ body: String, _ message: String) async throws {
    let client = try LocalFileClient(files: ["suggestion.json": Array(body.utf8)])
    let error = await #expect(throws: DataClientError.self) {
      try await client.send(PlaceSuggestion(parameters: [:]))
    }
    #expect(error?.code == .undecodable)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func missingAnswerNamesTheFileToWrite() async throws {
    let client = try LocalFileClient(files: ["sugestion/response.json": Array("{}".utf8)])
    let error = await #expect(throws: DataClientError.self) {
      try await client.send(PlaceSuggestion(parameters: [:]))
    }
    #expect(error?.code == .noAnswer)
    #expect(
      error?.message == "the folder has no answer to GET suggestion/; the nearest path is "
        + "\"sugestion\"; write suggestion/response.json")
  }
}
