import RepriseCore
import Testing
import Wire

/// Connections of WebSocket that are asked for and not there.
@Suite struct FrameSelectionTests {
  @Test(arguments: [
    (
      ReplaySelection.connection(9),
      "the session has no connection 9 with messages; choose a connection of WebSocket by its number: 1, 2"
    ),
    (
      .client("c"),
      "the session has no client \"c\", as only MQTT gives names; choose a connection of WebSocket by "
        + "its number: 1, 2"
    ),
  ])
  func saysWhichConnectionsThereAre(_ selection: ReplaySelection, _ message: String) {
    var session = FrameSession()
    for number in 1...2 {
      session.connection = number
      session.open(Double(number))
      session.frame(Double(number) + 0.5, .server, .text, "x")
    }
    let error = #expect(throws: DataClientError.self) {
      try ReplayClient(session.events, of: selection)
    }
    #expect(error?.message == message)
  }
}
