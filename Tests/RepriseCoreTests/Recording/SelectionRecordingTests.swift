import RepriseCore
import TestSupport
import Testing

/// What lines of selections and of several files are read as.
@Suite struct SelectionRecordingTests {
  private static let header = #"{"reprise":1,"source":{"kind":"capture"},"redacted":[]}"# + "\n"

  private static func line(
    _ connection: Int = 1, second: Int = 0, from: String = "client", file: String? = nil,
    leftOut: String? = nil, _ rest: String = #""type":"PINGREQ""#, over: Bool = false
  ) -> String {
    let file = file.map { "\"file\":\"\($0)\"," } ?? ""
    let leftOut = leftOut.map { ",\"leftOut\":\($0)" } ?? ""
    return "{\(file)\"frame\":1,\"time\":\"2026-11-21T07:39:0\(second)Z\","
      + "\"connection\":\(connection),\"from\":\"\(from)\",\"protocol\":\"mqtt-3.1.1\","
      + (over ? "\"over\":\"websocket\"," : "") + "\(rest)\(leftOut)}\n"
  }

  private static func close(_ connection: Int = 1, file: String? = nil) -> String {
    line(
      connection, file: file,
      #""type":"CLOSE","how":"fin","firstFrame":1,"firstTime":"2026-11-21T07:39:00Z""#)
  }

  /// What is read, one word an event: connection, sender and type.
  private static func told(_ text: String) throws -> [String] {
    try EventList(recording: Array(text.utf8)).events.map { event in
      let name =
        switch event.body {
        case .gap(let gap): "\(gap.reason.rawValue) \(gap.bytes) \(event.context.wire.name)"
        case .closed(let closing): "\(closing.how.rawValue) \(event.context.wire.name)"
        default: "packet"
        }
      return "\(event.context.connection) \(event.context.sender) \(name)"
    }
  }

  @Test func tellsWhatWasLeftOutInItsPlaceAndAtTheEnd() throws {
    let text =
      Self.header + Self.line() + Self.line(leftOut: #"{"client":0,"server":2}"#)
      + Self.line(2, leftOut: #"{"client":1,"server":0}"#, over: true) + Self.line(3)
    #expect(
      try Self.told(text) == [
        "1 client packet", "1 server left-out 0 mqtt-3.1.1", "1 client packet",
        "2 client left-out 0 websocket", "2 client packet", "3 client packet",
        "1 client left-out 0 mqtt-3.1.1", "1 server left-out 0 mqtt-3.1.1",
        "2 client left-out 0 websocket", "2 server left-out 0 websocket",
      ])
    let list = try EventList(recording: Array(text.utf8))
    #expect(list.notes == ["it is a selection: 3 events were left out, and count as missing"])
  }

  @Test func addsNothingBehindAnEnd() throws {
    let text = Self.header + Self.line(leftOut: "{}") + Self.close()
    #expect(try Self.told(text) == ["1 client packet", "1 client fin mqtt-3.1.1"])
  }

  @Test func readsLinesOfFilesWithoutAHeader() throws {
    let text =
      Self.line(2, file: "a") + Self.close(2, file: "a") + Self.line(1, second: 3, file: "a")
      + Self.line(1, file: "b") + Self.line(2, file: "b")
    #expect(
      try Self.told(text) == [
        "2 client packet", "2 client fin mqtt-3.1.1", "1 client packet",
        "1 client end-of-capture mqtt-3.1.1", "3 client packet", "4 client packet",
      ])
    let events = try EventList(recording: Array(text.utf8)).events
    // The end has the time and the line of the last event of its file.
    #expect(events[3].context.frame == 3 && events[3].context.time == events[2].context.time)
  }

  @Test(arguments: [
    ("3", "\"leftOut\" is a number, not an object"),
    (#"{"client":-1}"#, "\"client\""), (#"{"server":"x"}"#, "\"server\""),
  ])
  func refusesMarksThatAreNone(mark: String, message: String) throws {
    let text = Self.header + Self.line(leftOut: mark)
    let error = #expect(throws: RecordingError.self) { try Self.told(text) }
    #expect(error?.line == 2)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func refusesANumberThatNoSessionHas() throws {
    let number = 1 << 53
    let files = (0..<1_200).map { Self.line(number, file: "\($0)") }.joined()
    let error = #expect(throws: RecordingError.self) { try Self.told(files) }
    #expect(error?.message == "\"connection\" is too large" && error?.line == 1_024)
  }

  /// What is counted for a line is what stood in front of it, of its connection.
  @Test func countsByConnectionAndSender() throws {
    let text =
      Self.header + Self.line() + Self.line(from: "server", #""type":"PINGRESP""#) + Self.line(2)
      + Self.line(second: 5) + Self.close(2)
    var counter = SelectionCounter()
    var taken: [LeftOut] = []
    for event in try EventList(recording: Array(text.utf8)).events {
      event.withView { view in
        let isTaken = event.context.time.description.contains(":05") || event.packet == nil
        if isTaken { taken.append(counter.take(view)) } else { counter.leaveOut(view) }
      }
    }
    #expect(taken == [LeftOut(client: 1, server: 1), LeftOut(client: 1)])
  }

  private static let connect =
    #""type":"CONNECT","clientID":"c","cleanStart":true,"keepAlive":0"#

  @Test func choosesTheConnectionsOfAClientAsAWhole() throws {
    let open =
      #""type":"OPEN","client":"a:1","server":"b:2","fromStart":true,"firstFrame":1,"#
      + #""firstTime":"2026-11-21T07:39:00Z""#
    let other = Self.connect.replacing("\"c\"", with: "\"d\"")
    let text =
      Self.header + Self.line(1, open) + Self.line(2, open) + Self.line(2, other)
      + Self.line(1, Self.connect) + Self.line(2) + Self.line(1) + Self.close(2) + Self.close(1)
      + Self.line(3) + Self.line(3, Self.connect)
    var choice = ClientChoice("c")
    var taken: [String] = []
    for event in try EventList(recording: Array(text.utf8)).events {
      try event.withView { view throws in
        try choice.consume(view, isSelected: view.context.connection != 2) { event, isSelected in
          taken.append("\(event.context.connection) \(event.context.frame) \(isSelected)")
        }
      }
    }
    // Before its CONNECT nothing of connection 3 was its client's.
    #expect(taken == ["1 2 true", "1 5 true", "1 7 true", "1 9 true", "3 11 true"])
  }
}
