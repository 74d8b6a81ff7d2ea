import RepriseCore
import Testing
import Wire

@Suite struct ReplayDialogueTests {
  private static func session() -> SessionBuilder {
    var session = SessionBuilder()
    session.connect(0)
    session.subscribe(1, ["a/#"], id: 1)
    session.publish(2, .client, "a/b", "x", qos: 1, id: 2)
    session.publish(3, .server, "a/b", "x")
    session.acknowledge(4, .server, .puback, 2)
    session.add(5, .client, .pingreq)
    session.disconnect(6)
    return session
  }

  private static func events(
    _ events: [Event], of selection: ReplaySelection = .only,
    within window: ReplayWindow = ReplayWindow()
  ) -> ReplayEvents {
    var gathered = ReplayEvents(of: selection, within: window)
    for event in events { gathered.append(event) }
    return gathered
  }

  private static func line(_ step: ReplayDialogue.Step) -> String {
    switch step.content {
    case .action(let action):
      "\(step.place.frame) \(action.id.rawValue) \(step.isImplied ? "implied " : "")\(action.kind.word)"
    case .event(let event): "\(step.place.frame) \(event.word)"
    }
  }

  @Test func tellsWhatIsDoneAndAnswered() throws {
    let dialogue = try Self.events(Self.session().events).dialogue()
    let lines = [
      "2 0 connect", "3 connected", "4 1 subscribe", "5 subscribed 1", "6 2 publish", "7 message",
      "8 published 2", "10 3 disconnect", "11 closed",
    ]
    #expect(dialogue.map(Self.line) == lines)
    // Nothing is used up.
    #expect(dialogue.map(Self.line) == lines)
  }

  @Test func countsActionsAsTheReplayDoes() async throws {
    let events = Self.events(Self.session().events)
    let client = try ReplayClient(events)
    async let reading: Void = { while try await client.next(before: nil) != .ended {} }()
    for step in try events.dialogue() {
      guard case .action(let action) = step.content else { continue }
      let due = try #require(try await client.nextDueAction())
      #expect(due.ordinal == Int(action.id.rawValue))
      #expect(due.place == step.place)
      try await client.perform(action)
    }
    try await reading
    try client.finish()
  }

  @Test func endsBeforeAHole() throws {
    var session = Self.session()
    session.add(7, .server, .gap(Gap(bytes: 1, reason: .acknowledged)))
    let cut = session.events.prefix(5) + [session.events[session.events.count - 1]]
    #expect(try Self.events(Array(cut)).dialogue().map(Self.line).last == "5 subscribed 1")
  }

  @Test func saysWhichConnectionWasOpenBefore() throws {
    let events = Array(Self.session().events.dropFirst(3))
    let steps = Array(try Self.events(events).dialogue())
    #expect(steps.map(\.isImplied) == [true] + Array(repeating: false, count: steps.count - 1))
    #expect(
      steps.prefix(3).map(Self.line) == ["4 0 implied connect", "4 connected", "4 1 subscribe"])
  }

  // MARK: Windows

  @Test(
    arguments: [
      ("+1s", nil, "4 0 implied connect", "11 closed"), (nil, "+3s", "2 0 connect", "7 message"),
      ("+1500ms", "+5s", "6 0 implied connect", "8 published 1"),
      ("2025-06-15T15:06:42Z", nil, "6 0 implied connect", "11 closed"),
      ("15:06:41", "15:06:43", "4 0 implied connect", "7 message"),
    ] as [(String?, String?, String, String)])
  func aWindowIsAShorterSession(from: String?, to: String?, first: String, last: String) throws {
    let window = ReplayWindow(
      from: from.flatMap { ReplayWindow.Moment($0) }, to: to.flatMap { ReplayWindow.Moment($0) })
    #expect((window.from == nil) == (from == nil) && (window.to == nil) == (to == nil))
    let events = Self.events(Self.session().events, of: .client("c"), within: window)
    let lines = try events.dialogue().map(Self.line)
    #expect(lines.first == first)
    #expect(lines.last == last)
  }

  @Test(arguments: ["", "noon", "+", "+1", "25:00", "2025-06-15"])
  func whatIsNoTimeIsNone(text: String) { #expect(ReplayWindow.Moment(text) == nil) }

  @Test func anEmptyWindowIsSaidSo() {
    let window = ReplayWindow(from: ReplayWindow.Moment("+1h"))
    let error = #expect(throws: DataClientError.self) {
      try Self.events(Self.session().events, within: window).dialogue()
    }
    #expect(error?.message.contains("in the time that was asked for") == true)
  }

  // MARK: Clients

  @Test func aConnectionOpenBeforeIsTheClientsThatComesBack() throws {
    var session = SessionBuilder()
    session.open(0, isFromStart: false)
    session.publish(1, .server, "t")
    session.close(2)
    session.connection = 2
    session.connect(3)
    session.publish(4, .server, "t")
    #expect(!Self.events(session.events).isAmbiguous)
    #expect(try Self.events(session.events).dialogue().map(Self.line).count == 7)
    // While it is open, somebody else connects.
    session.connection = 1
    session.publish(5, .server, "t")
    #expect(Self.events(session.events).isAmbiguous)
    #expect(!Self.events(session.events, of: .connection(1)).isAmbiguous)
    #expect(throws: DataClientError.self) { try Self.events(session.events).dialogue() }
  }

  @Test func aSurveyNamesClientsAndTopics() {
    var session = SessionBuilder()
    session.connect(0, as: "first")
    session.subscribe(1, ["a", "b"], id: 1)
    session.publish(2, .client, "c")
    session.publish(3, .client, "d")
    session.connection = 2
    session.open(4, isFromStart: false)
    session.publish(5, .server, "e")
    session.connection = 3
    session.connect(6, as: "first")
    var survey = ReplaySurvey()
    for event in session.events { event.withView { survey.consume($0) } }
    #expect(survey.clients.map(\.clientID) == ["first", nil])
    #expect(survey.clients.map(\.connections) == [[1, 3], [2]])
    #expect(survey.clients.map(\.packets) == [8, 1])
    #expect(survey.clients.map(\.topics) == [["a", "b", "c"], ["e"]])
    #expect(survey.clients.map(\.hasMoreTopics) == [true, false])
  }
}

extension ClientAction.Kind {
  fileprivate var word: String { String("\(self)".prefix { $0 != "(" }) }
}

extension ClientEvent {
  fileprivate var word: String {
    switch self {
    case .subscribed(let id, _): "subscribed \(id.rawValue)"
    case .published(let id): "published \(id.rawValue)"
    default: String("\(self)".prefix { $0 != "(" })
    }
  }
}
