import AppSessions
import DeviceSDK
import SDKReplay
import Testing

/// Gateways whose sessions begin in the middle of a connection, or with one that was lost before.
@Suite struct GatewayMiddleTests {
  /// A recording from one of its frames on; frames count from 2, behind the header.
  private static func text(_ name: String, from frame: Int) throws -> String {
    let lines = try SDKRecording.text("gateway/\(name).jsonl").split(separator: "\n")
    return ([lines[0]] + lines[(frame - 1)...]).joined(separator: "\n") + "\n"
  }

  /// What was told of states.
  private static func states(_ played: PlayedRecording<GatewayPlan>) -> [String] {
    played.told.compactMap { effect in
      switch effect {
      case .changeState(let change): "\(change.state)"
      case .changeLine(let change): "\(change.subdevice) \(change.state)"
      default: nil
      }
    }
  }

  /// The sub-device was online, as the gateway logs it in again at once; its filter comes back with the login.
  @Test func goesOnWithWhatItHadBefore() async throws {
    let played = try await PlayedRecording(
      text: try Self.text("lost-while-online", from: 24), as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.outcome.unsent == nil && played.outcome.openCalls.isEmpty)
    #expect(played.failed.isEmpty)
    let lamp = "lost-while-online/lamp"
    #expect(
      played.words == ["start", "publish /sys/\(lamp)/thing/event/property/post", "stop"])
    #expect(
      Self.states(played) == [
        "connecting", "connected", "\(lamp) online", "\(lamp) topology", "disconnected",
        "connecting", "\(lamp) online", "connected", "\(lamp) topology", "disconnected",
      ])
    #expect(
      played.plan.notes == [
        "the session begins in the middle of a connection; the gateway is taken to have subscribed to "
          + "/ext/session/a1pk/lost-while-online/combine/login_reply, "
          + "/sys/a1pk/lost-while-online/thing/topo/add_reply, /sys/\(lamp)/user/a before, to have "
          + "had online \(lamp), and to have tried nothing in vain"
      ])
    let statistics = played.outcome.machine.statistics
    #expect(statistics.automaticLogins == 1 && statistics.lostConnections == 1)
    #expect(statistics.messages == 1 && statistics.unknownReplies == 0)
  }

  /// A session that begins between two connections is that of a gateway which comes back.
  @Test(arguments: [26, 27]) func comesBackWithWhatItHadBefore(frame: Int) async throws {
    let played = try await PlayedRecording(
      text: try Self.text("lost-while-online", from: frame), as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    let lamp = "lost-while-online/lamp"
    #expect(played.words == ["start", "line \(lamp)", "logIn \(lamp)", "stop"])
    #expect(
      Self.states(played) == [
        "connecting", "connected", "\(lamp) ready", "\(lamp) online", "\(lamp) topology",
        "disconnected",
      ])
    #expect(played.plan.notes.count == 1)
    #expect(played.outcome.machine.statistics.automaticLogins == 0)
  }

  /// What is not online is not taken for it: the near miss of the sub-device that is.
  @Test func whoIsLoggedInLaterWasNotOnline() async throws {
    let played = try await PlayedRecording(
      text: try Self.text("commands", from: 13), as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words.prefix(3) == ["start", "line commands/lamp", "logIn commands/lamp"])
    #expect(
      Self.states(played) == [
        "connecting", "connected", "commands/lamp ready", "commands/lamp online",
        "commands/lamp topology", "disconnected",
      ])
    #expect(
      played.plan.notes.first?.hasSuffix(
        "to nothing before, to have had online nothing, and to have tried nothing in vain") == true)
  }

  /// The cloud takes what a sub-device sends, a command comes for it, or it is logged out: so it was online, and has to
  /// ask for its replies again when it is no more.
  @Test(arguments: [25, 29, 41]) func whoIsSeenOnlineWasOnline(frame: Int) async throws {
    let played = try await PlayedRecording(
      text: try Self.text("cloud-day", from: frame), as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    let lamp = "cloud-day/lamp"
    let post = "invoke /sys/\(lamp)/thing/event/property/post"
    let words = [
      25: [post, "answer /sys/\(lamp)/thing/service/property/set", "topology"],
      29: ["answer /sys/\(lamp)/thing/service/property/set", "topology"], 41: [],
    ]
    #expect(
      played.words == ["start"] + (words[frame] ?? [])
        + ["logOut \(lamp)", post, "deleteTopology \(lamp)", "stop"])
    #expect(
      Self.states(played) == [
        "connecting", "connected", "\(lamp) online", "\(lamp) topology", "\(lamp) ready",
        "disconnected",
      ])
    // The last post has no session any more.
    #expect(played.failed.map(\.name) == ["invoke"])
    #expect(played.outcome.machine.statistics.unknownReplies == 0)
  }

  /// A login that is under way says so; the near miss is one whose request is in the session.
  @Test(arguments: [(15, false), (16, true), (18, true), (20, false)])
  func saysThatALoginWasUnderWay(frame: Int, isUnderWay: Bool) async throws {
    let text = try Self.text("login-commands", from: frame)
    let plan = try SystemReplay<GatewayPlan>(AppSession.events(Array(text.utf8))).plan
    let note =
      "the login of login-commands/lamp was under way when the session began, and a replay can't go on with it; "
      + "take --from back to its PUBLISH, or on to where it is over"
    #expect(plan.notes.dropFirst() == (isUnderWay ? [note] : []))
  }

  /// A replay can't take part in a login that was under way, nor know how often something was tried before.
  private static let knownDivergences: [String: ClosedRange<Int>] = [
    "gateway/faults.jsonl": 10...21, "gateway/login-commands.jsonl": 16...18,
    "gateway/lost-while-online.jsonl": 16...18,
  ]

  /// Behind their first packets these have no topic that only gateways have, and so are no gateways'.
  private static let nameless = [
    "credentials", "gateway-before-connected", "gateway-publish", "gateway-start",
    "sub-device-changes", "sub-device-fails", "sub-device-never-ready", "subscribe", "upload",
  ].map { "gateway/\($0).jsonl" }

  /// Wherever a capture begins, the rest goes through as it was.
  @Test(arguments: GatewayPlanTests.names.filter { $0.hasSuffix(".jsonl") })
  func aCaptureThatBeginsLateShowsTheRest(name: String) async throws {
    let text = try SDKRecording.text(name)
    let lines = text.split(separator: "\n")
    let end = try await PlayedRecording(text: text, as: GatewayPlan.self).outcome.ending.state
    var count = 0
    for first in 2..<lines.count {
      let rest = ([lines[0]] + lines[first...]).joined(separator: "\n") + "\n"
      let events = try AppSession.events(Array(rest.utf8))
      // Without a topic that only gateways have nobody can say that it is one.
      guard (try? RecordedSystem(events)) == .gateway else { continue }
      count += 1
      let outcome = try await SystemReplay<GatewayPlan>(events).run { _ in }
      let isKnown = Self.knownDivergences[name]?.contains(first + 1) == true
      #expect(
        (outcome.divergence != nil) == isKnown,
        "frame \(first + 1): \(outcome.divergence.map { "\($0)" } ?? "")")
      #expect(isKnown || outcome.ending.state == end, "frame \(first + 1)")
    }
    #expect((count > 3) != Self.nameless.contains(name), "\(count)")
  }
}
