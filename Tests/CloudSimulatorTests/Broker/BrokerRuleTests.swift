import CloudSimulator
import RepriseCore
import Testing

/// The rules of MQTT, with clients that one task moves in turn.
@Suite struct BrokerRuleTests {
  private let broker = InProcessBroker()

  private func connected(_ name: String, clean: Bool = true, will: Message? = nil) async throws
    -> Peer
  {
    let peer = Peer(broker, name)
    try await peer.connect(name, clean: clean, will: will)
    #expect(try await peer.lines() == ["connected"])
    return peer
  }

  @Test(arguments: [
    ("a/#", "a", true), ("a/#", "a/b/c", true), ("#", "a/b", true), ("#", "$SYS/x", false),
    ("+/x", "$SYS/x", false), ("$SYS/#", "$SYS/x", true), ("+", "/a", false), ("/+", "/a", true),
    ("a/+", "a/", true), ("a/+", "a/b/c", false), ("a/b", "a/B", false),
  ])
  func matchesWildcards(filter: String, topic: String, isMatch: Bool) async throws {
    let peer = try await connected("a")
    try await peer.subscribe(filter)
    #expect(try await peer.lines() == ["subscribed 1"])
    try await peer.publish(topic, "x")
    #expect(try await peer.lines() == ["published"] + (isMatch ? ["\(topic) x q1"] : []))
  }

  @Test(arguments: QoS.allCases, QoS.allCases)
  func deliversByTheLowerQoS(sent: QoS, wanted: QoS) async throws {
    let peer = try await connected("a")
    try await peer.subscribe("t", qos: wanted)
    try await peer.publish("t", "x", qos: sent)
    let lower = min(sent, wanted).rawValue
    #expect(
      try await peer.lines() == ["subscribed \(wanted.rawValue)", "published", "t x q\(lower)"])
  }

  @Test func deliversOverlappingSubscriptionsOnceAndReplacesEqualOnes() async throws {
    let peer = try await connected("a")
    try await peer.subscribe("t/#", qos: .atMostOnce)
    try await peer.subscribe("t/+", qos: .exactlyOnce)
    try await peer.subscribe("t/+", qos: .atLeastOnce)
    _ = try await peer.lines()
    try await peer.publish("t/x", "1", qos: .exactlyOnce)
    #expect(try await peer.lines() == ["published", "t/x 1 q1"])
    try await peer.perform(.unsubscribe(["t/+"]))
    try await peer.publish("t/x", "2", qos: .exactlyOnce)
    #expect(try await peer.lines() == ["unsubscribed", "published", "t/x 2 q0"])
  }

  @Test func keepsAndClearsRetainedMessages() async throws {
    let sender = try await connected("sender")
    let live = try await connected("live")
    try await live.subscribe("#")
    try await sender.publish("b", "old", retained: true)
    try await sender.publish("b", "new", retained: true)
    try await sender.publish("a", "1", retained: true)
    try await sender.publish("c", "not kept")
    #expect(
      try await live.lines() == [
        "subscribed 1", "b old q1", "b new q1", "a 1 q1", "c not kept q1",
      ])
    let late = try await connected("late")
    try await late.subscribe("#", qos: .atMostOnce)
    #expect(try await late.lines() == ["subscribed 0", "a 1 q0 retained", "b new q0 retained"])
    // Clearing a topic that holds nothing is legal.
    try await sender.publish("b", "", retained: true)
    try await sender.publish("z", "", retained: true)
    #expect(try await late.lines() == ["b  q0", "z  q0"])
    try await late.subscribe("#", qos: .atMostOnce)
    #expect(try await late.lines() == ["subscribed 0", "a 1 q0 retained"])
  }

  @Test func keepsSessionsThatAreNotClean() async throws {
    let sender = try await connected("sender")
    let first = try await connected("kept", clean: false)
    try await first.subscribe("t")
    try await sender.publish("t", "stored", retained: true)
    _ = try await first.lines()
    try await first.perform(.disconnect)
    #expect(try await first.lines() == ["closed"])
    try await sender.publish("t", "lost", qos: .atMostOnce)
    try await sender.publish("t", "waiting", qos: .atLeastOnce)
    // The retained message is not sent again: nobody has subscribed anew.
    try await first.connect("kept", clean: false)
    #expect(try await first.lines() == ["connected, session present", "t waiting q1"])
    try await first.perform(.disconnect)
    _ = try await first.lines()
    try await first.connect("kept")
    try await sender.publish("t", "for nobody")
    #expect(try await first.lines() == ["connected"])
    try await first.perform(.disconnect)
    _ = try await first.lines()
    try await first.connect("kept", clean: false)
    #expect(try await first.lines() == ["connected"])
  }

  @Test func sendsTheWillOfALostConnectionOnly() async throws {
    let watcher = try await connected("watcher")
    try await watcher.subscribe("will")
    _ = try await watcher.lines()
    let will = Message(topic: "will", payload: Array("gone".utf8), qos: .atLeastOnce)
    let peer = try await connected("peer", will: will)
    try await peer.perform(.disconnect)
    #expect(try await peer.lines() == ["closed"])
    #expect(try await watcher.lines() == [])
    try await peer.connect("peer", will: will)
    _ = try await peer.lines()
    broker.drop("peer")
    #expect(try await watcher.lines() == ["will gone q1"])
    #expect(try await peer.lines() == ["lost: the broker has dropped the connection"])
    // Nothing happens twice.
    broker.drop("peer")
    #expect(try await peer.lines() == [])
  }

  @Test func cutsTheOlderConnectionOfAClientIdentifier() async throws {
    let older = try await connected("same", clean: false)
    try await older.subscribe("t")
    _ = try await older.lines()
    let newer = Peer(broker, "newer")
    try await newer.connect("same", clean: false)
    #expect(try await newer.lines() == ["connected, session present"])
    #expect(
      try await older.lines() == [
        #"closed by the server 142: another client has connected as "same""#
      ])
    try await newer.publish("t", "x")
    #expect(try await newer.lines() == ["published", "t x q1"])
    #expect(try await older.lines() == [])
  }

  @Test func refusesMessagesByRule() async throws {
    let old = try await connected("old")
    try await old.subscribe("#")
    broker.refuseMessages(to: "secret/#")
    broker.refuseMessages(to: "full", code: 0x97)
    let capabilities = InProcessClient.allCapabilities.union(.refusals)
    let new = Peer(broker.client(named: "new", capabilities: capabilities, isAwaited: false))
    try await new.connect("new")
    for peer in [old, new] {
      _ = try await peer.lines()
      try await peer.publish("secret/x", "1", qos: .atMostOnce)
      try await peer.publish("secret/x", "2", qos: .atLeastOnce)
      try await peer.publish("full", "3", qos: .exactlyOnce)
    }
    #expect(try await old.lines() == ["published", "published", "published"])
    #expect(
      try await new.lines() == [
        "published", "failed: \(ActionFailure.refused(code: 0x87, reason: nil))",
        "failed: \(ActionFailure.refused(code: 0x97, reason: nil))",
      ])
    try await new.publish("open", "4")
    #expect(try await old.lines() == ["open 4 q1"])
  }

  @Test func refusesConnectionsAndSubscriptionsByRule() async throws {
    broker.refuseConnections(of: "a", code: 5)
    broker.refuseConnections(code: 3, count: 2)
    broker.refuseSubscriptions(to: "secret/#")
    let peer = Peer(broker, "a")
    for line in ["refused 5", "refused 3", "refused 3", "connected"] {
      try await peer.connect("a")
      #expect(try await peer.lines() == [line])
    }
    try await peer.perform(
      .subscribe([Subscription("secret/x"), Subscription("open"), Subscription("secret/#")]))
    try await peer.publish("secret/x", "1")
    try await peer.publish("open", "2")
    #expect(
      try await peer.lines() == [
        "subscribed refused 1 refused", "published", "published", "open 2 q1",
      ])
    let nameless = Peer(broker, "nameless")
    try await nameless.connect("", clean: false)
    #expect(try await nameless.lines() == ["refused 2"])
    try await nameless.connect("")
    #expect(try await nameless.lines() == ["connected"])
  }
}
