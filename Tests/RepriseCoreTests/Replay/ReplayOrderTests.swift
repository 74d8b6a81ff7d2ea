import RepriseCore
import TestSupport
import Testing
import Wire

/// Which actions may come in another order than recorded, and which may not.
@Suite struct ReplayOrderTests {
  /// One step of a session behind its CONNACK, in a short notation.
  ///
  /// `>a` is a message of the client on the topic a, `>a1` one of QoS 1 with the packet identifier 1, `+a1` a
  /// SUBSCRIBE; `<1` acknowledges a message, `<+1` a subscription, and `<m` is a message of the server.
  private static func session(_ steps: String) -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    for (index, step) in steps.split(separator: " ").enumerated() {
      let time = Double(index + 1)
      let id = UInt16(step.filter(\.isNumber)) ?? 0
      let name = String(step.filter(\.isLetter))
      switch step.prefix(2) {
      case "<+": session.add(time, .server, .suback(packetID: id, codes: [1], []))
      case "<m": session.publish(time, .server, "m")
      case let start where start.hasPrefix("<"):
        session.acknowledge(time, .server, .puback, id)
      case let start where start.hasPrefix("+"):
        session.add(time, .client, .subscribe(packetID: id, [.init(name, options: 1)], []))
      case ">!": session.disconnect(time)
      default: session.publish(time, .client, name, "x", qos: id == 0 ? 0 : 1, id: id)
      }
    }
    return session.events
  }

  /// Performs `a` or `+a` in an order, without reading; returns what diverged first.
  private static func perform(
    _ order: String, in steps: String, _ options: ReplayOptions = ReplayOptions()
  ) async throws -> ReplayDivergence? {
    let events = session(steps)
    let identified = Set(
      steps.split(separator: " ").filter { $0.hasPrefix(">") && $0.contains(where: \.isNumber) }
        .map { String($0.filter(\.isLetter)) })
    let client = try ReplayClient(events, options: options)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    for step in order.split(separator: " ").map(String.init) {
      do {
        switch step.first {
        case "+": try await user.subscribe(String(step.dropFirst()))
        case "!": try await user.do(.disconnect)
        default:
          try await user.publish(
            step, "x", qos: identified.contains(step) ? .atLeastOnce : .atMostOnce)
        }
      } catch let error as DataClientError where error.code == .diverged {
        return client.divergence
      }
    }
    // Whatever order they had, all of the session comes.
    while try await user.next() != .ended {}
    try client.finish()
    return nil
  }

  @Test(arguments: [
    // Nothing inbound is between them.
    (">a >b >c", "c a b"), (">a >b >c", "b c a"), (">a >b >c <m", "c b a"),
    // An answer that comes while others are under way is nobody's reason.
    (">a1 >b2 <1 >c3 <2 <3", "c b a"), (">a1 >b2 <2 >c3 <1 <3", "b c a"),
    ("+a1 +b2 +c3 <+1 <+2 <+3", "+c +a +b"),
    // A message depends on the subscription that was answered before it, and on no other.
    ("+a1 +b2 <+1 >c3 <+2 <3", "+a c +b"),
    // Subscriptions have no order among themselves, and a message follows one of them.
    ("+a1 <+1 +b2 <+2 >c3 >d4 <3 <4", "+b +a d c"), ("+a1 <+1 +b2 <+2 >c3 >d4 <3 <4", "+a d +b c"),
    // Those behind something inbound have no order among themselves either.
    (">a <m >b >c <m >d >e", "a c b e d"),
    // A quick user needs not read first.
    (">a <m >b", "a b"),
  ])
  func takesActionsThatNothingSeparatesInAnyOrder(steps: String, order: String) async throws {
    let divergence = try await Self.perform(order, in: steps)
    #expect(divergence == nil, "\(divergence?.description ?? "")")
    let strict = try await Self.perform(order, in: steps, ReplayOptions(order: .recorded))
    #expect((strict == nil) == (order == "a b"))
  }

  @Test(arguments: [
    // An action before the message that it followed.
    (">a <m >b", "b", ">a", 0), (">a >b <m >c", "c", ">a", 1), (">a >b <m >c", "a c", ">b", 0),
    // A pair that is swapped around an answer to all that was under way.
    (">a1 <1 >b2 <2", "b", ">a", 0), (">a1 >b2 <1 <2 >c3 <3", "c", ">a", 1),
    // A message before the subscription was granted.
    ("+a1 <+1 >b2 <2", "b", "+a", 0), ("+a1 +b2 <+1 >c3 <+2 <3", "c", "+a", 1),
    // What is done twice, or not at all.
    (">a >b >c", "a a", ">b", 1), (">a >b <m >c", "b c", ">a", 0),
    // The end of a connection before what was sent on it.
    (">a >b >!", "b !", ">a", 0),
  ])
  func refusesActionsBeforeTheirCause(
    steps: String, order: String, expected: String, alternatives: Int
  ) async throws {
    let divergence = try #require(try await Self.perform(order, in: steps))
    #expect(divergence.kind == .otherAction)
    let name = expected.dropFirst()
    let packet = expected.hasPrefix("+") ? "SUBSCRIBE \(name) (" : "PUBLISH \(name),"
    #expect(divergence.expected?.hasPrefix(packet) == true, "\(divergence)")
    #expect(divergence.alternatives == alternatives)
  }

  /// Requests as an SDK makes them: the identifiers are given anew, in the order of the calls.
  private static func requests(_ topics: [String]) -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    for (index, topic) in topics.enumerated() {
      let payload = #"{"id":"\#(index + 1)","n":"\#(topic)\#(index)"}"#
      session.publish(1, .client, topic, payload, qos: 1, id: UInt16(index + 1))
    }
    for (index, topic) in topics.enumerated().reversed() {
      session.acknowledge(2, .server, .puback, UInt16(index + 1))
      session.publish(3, .server, "r/\(topic)", #"{"id":"\#(index + 1)","of":\#(index)}"#)
    }
    return session.events
  }

  /// The identifiers of packets and requests, and so the answers, reach whoever asked, in every order.
  @Test(arguments: 0..<50) func answersReachWhoeverAsked(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let topics = ["a", "b", "a", "c", "a"]
    let client = try ReplayClient(Self.requests(topics))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    var identifiers: [Int: (request: Int, action: ClientAction.ID)] = [:]
    for (place, index) in topics.indices.shuffled(using: &random).enumerated() {
      let request = place + 10
      let payload = #"{"n":"\#(topics[index])\#(index)","id":"\#(request)"}"#
      let id = try await user.publish(topics[index], payload, qos: .atLeastOnce)
      identifiers[index] = (request, id)
    }
    for index in topics.indices.reversed() {
      let own = try #require(identifiers[index])
      #expect(try await user.next() == .published(own.action))
      #expect(
        try await user.next()
          == .message(Message("r/\(topics[index])", #"{"id":"\#(own.request)","of":\#(index)}"#)))
    }
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  /// Of several that match it is the one with the same identifiers, whatever the order.
  @Test func theMostSimilarIsMeant() async throws {
    var session = SessionBuilder()
    session.connect(0)
    for id in 1...3 { session.publish(1, .client, "up", #"{"id":"\#(id)"}"#) }
    session.publish(2, .server, "down", #"{"id":"3","v":"third"}"#)
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    for id in [3, 1, 2] { try await user.publish("up", #"{"id":"\#(id)"}"#) }
    for _ in 1...3 { _ = try await user.next() }
    #expect(try await user.next() == .message(Message("down", #"{"id":"3","v":"third"}"#)))
  }

  /// An identifier given anew that a later action has by chance means no action of another time: an application with
  /// a timer would miss the first one's.
  @Test(arguments: [ReplayMatch.json, .topic]) func whatATimerDoesIsInItsOrder(
    match: ReplayMatch
  ) async throws {
    var session = SessionBuilder()
    session.connect(0)
    for id in 1...3 { session.publish(Double(id), .client, "up", #"{"id":"\#(id)"}"#) }
    let client = try ReplayClient(
      session.events, options: ReplayOptions(match: match, actors: .readerOnly))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    for second in 1...3 {
      #expect(try await user.next(Double(second)) == .deadline)
      let id = try await user.publish("up", #"{"id":"\#(second + 1)"}"#)
      #expect(try await user.next(Double(second)) == .published(id))
    }
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  @Test func theNearestIsShown() async throws {
    let topics = ["a", "b", "c"]
    let client = try ReplayClient(Self.requests(topics), options: ReplayOptions(source: "x.pcap"))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    await #expect(throws: DataClientError.self) {
      try await user.publish("b", #"{"id":"7","n":"b2"}"#, qos: .atLeastOnce)
    }
    let divergence = try #require(client.divergence)
    #expect(divergence.place?.frame == 5)
    #expect(divergence.alternatives == 2)
    #expect(
      divergence.differences.map(\.description) == [#"payload.n: expected "b1", actual "b2""#])
    // Both sides are written in the same way.
    #expect(divergence.expected?.hasPrefix("PUBLISH b, QoS 1, payload ") == true)
    #expect(divergence.actual?.hasPrefix("PUBLISH b, QoS 1, payload ") == true)
    #expect(divergence.description.contains("any of 3 actions may come here"))
    #expect(divergence.description.contains(#"ReplayRoles.paths["n"] = "n""#))
  }

  /// Messages without topics have no answers of the protocol: what the server says separates.
  @Test(arguments: [
    ([">a", ">b", "<x", ">c"], ["b", "a", "c"], true),
    ([">a", ">b", "<x", ">c"], ["b", "c"], false), ([">a", "<x", ">b"], ["b"], false),
  ])
  func holdsForWebSocketToo(steps: [String], order: [String], matches: Bool) async throws {
    var session = FrameSession()
    session.open(0)
    for (index, step) in steps.enumerated() {
      let sender: Peer = step.hasPrefix(">") ? .client : .server
      session.frame(Double(index + 1), sender, .text, String(step.dropFirst()))
    }
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    for text in order.dropLast() { try await user.do(.sendText(text)) }
    do {
      try await user.do(.sendText(order.last ?? ""))
      #expect(matches)
    } catch { #expect(!matches) }
    #expect((client.divergence == nil) == matches)
  }

  /// Whatever comes first, time does not pass an action that is still to come.
  @Test func timeWaitsForTheEarliest() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(10, .client, "a", "x")
    session.publish(20, .client, "b", "x")
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    try await user.publish("b", "x")
    #expect(client.now < SessionBuilder.time(10))
    #expect(try await user.next(10) == .deadline)
    try await user.publish("a", "x")
    #expect(client.now == SessionBuilder.time(10))
    for _ in 1...2 {
      guard case .published = try await user.next() else {
        Issue.record("an answer is missing"); return
      }
    }
    #expect(try await user.next() == .ended)
  }

  /// Each of many actions that may come in any order costs the same, also while the first one is still to come; if each
  /// were looked for among all that were performed, this would take an hour.
  @Test(.timeLimit(.minutes(20)), arguments: [true, false]) func manyThatMayComeCostNoMore(
    firstComesFirst: Bool
  ) async throws {
    var session = SessionBuilder()
    session.connect(0)
    let count = 20_000
    session.publish(1, .client, "first")
    for index in 1..<count { session.publish(1, .client, "t", #"{"id":"\#(index)"}"#) }
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    if firstComesFirst { try await user.publish("first") }
    for index in 1..<count { try await user.publish("t", #"{"id":"\#(index)"}"#) }
    if !firstComesFirst { try await user.publish("first") }
    for _ in 0..<count { _ = try await user.next() }
    #expect(try await user.next() == .ended)
    try client.finish()
  }
}
