import AppSessions
import CloudSimulator
import RepriseCore
import SDKReplay
import Testing

@testable import DeviceSDK

/// Sessions of the channel itself: replayed, it sees what it saw.
@Suite struct ChannelReplayTests {
  @Test func bindsAsksAndHearsAgain() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      try await app.channel.bind(token: "secret-token")
      _ = try await app.channel.invoke("/light/get", ["id": 7])
      app.cloud.push(CloudPush(.properties([JSONMember("LightSwitch", 1)])), to: app.device)
      try await app.wait(until: 5)
      try await app.channel.publish("/test/publish", ["v": 1])
      try await app.wait(until: 6)
      try await app.channel.subscribe("/own/#")
      try await app.channel.unsubscribe("/own/#")
      try await app.channel.unbind()
      try await app.channel.stop()
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    #expect(
      run.lines == [
        "start", "state connecting", "state connected", "start ok",
        "bind", "account binding", "account bound", "bind ok {}",
        #"invoke /light/get {"id":7}"#, #"invoke ok {"id":7}"#,
        "message /thing/properties",
        #"publish /test/publish {"v":1}"#, "publish ok", "message /test/publish_reply",
        "subscribe /own/#", "subscribe ok", "unsubscribe /own/#", "unsubscribe ok",
        "unbind", "account unbinding", "account unbound", "unbind ok {}",
        "stop", "state disconnected final", "stop ok",
      ])
  }

  @Test func aLateReplyIsLateAgain() async throws {
    let script = CloudScript(replies: [.init(topic: "/slow", delay: .seconds(12))])
    let recording = try await AppSession.record(script) { app in
      try await app.connect()
      _ = try? await app.channel.invoke("/slow")
      try await app.wait(until: 20)
    }
    let run = try await ReplayRun(recording)
    #expect(
      run.lines.dropFirst(4) == [
        "invoke /slow {}", "invoke error 4101",
        "note request 1 was answered too late on \(AppSession.down)/slow_reply",
        "stop", "state disconnected final", "stop ok",
      ])
    #expect(run.places.contains("- invoke error 4101"))
    #expect(run.outcome.machine.statistics.lateReplies == 1)
    #expect(run.outcome.divergence == nil)
  }

  @Test(arguments: [
    (CloudFault.duplicate, "note request 1 was answered again on"),
    (.wrongID, "note a reply on"), (.notJSON, "note what came on"),
  ])
  func oddRepliesAreNoted(fault: CloudFault, start: String) async throws {
    let script = CloudScript(replies: [.init(topic: "/odd", faults: [fault])])
    let recording = try await AppSession.record(script) { app in
      try await app.connect()
      _ = try? await app.channel.invoke("/odd")
      try await app.wait(until: 30)
    }
    let run = try await ReplayRun(recording)
    #expect(run.lines.contains { $0.hasPrefix(start) }, "\(run.lines)")
    #expect(run.outcome.divergence == nil)
  }

  @Test func aLostConnectionComesBackWithItsSubscriptions() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      try await app.channel.bind(token: "t")
      try await app.channel.subscribe("/own")
      app.broker.drop("app")
      try await app.wait(until: 10)
      _ = try await app.channel.invoke("/after")
    }
    let run = try await ReplayRun(recording)
    #expect(
      run.lines.dropFirst(8) == [
        "subscribe /own", "subscribe ok", "state disconnected 4101", "state connecting",
        "state connected", "invoke /after {}", "invoke ok {}",
        "stop", "state disconnected final", "stop ok",
      ])
    #expect(run.outcome.ending.account == .bound)
    #expect(run.outcome.divergence == nil)
  }

  @Test(arguments: [2_152, 429]) func aNewTryIsTheChannelsOwn(code: Int) async throws {
    let refusal = JSONValue.number("\(code)")
    let script = CloudScript(
      replies: [.init(topic: "/account/bind", requests: [1], code: refusal)])
    let recording = try await AppSession.record(script) { app in
      try await app.connect()
      try await app.channel.bind(token: "t")
      try await app.channel.publish("/done")
    }
    let run = try await ReplayRun(recording)
    #expect(
      run.lines.dropFirst(4).prefix(5) == [
        "bind", "account binding", "note request 1 failed with code \(code)", "account bound",
        "bind ok {}",
      ])
    #expect(run.outcome.divergence == nil)
  }

  @Test func refusedTokensNeedALogin() async throws {
    let script = CloudScript(tokens: ["old": .init(code: 2_043)])
    let recording = try await AppSession.record(script) { app in
      try await app.connect()
      for _ in 1...3 { try? await app.channel.bind(token: "old") }
      try await app.channel.noteLogin()
      try await app.channel.bind(token: "new")
    }
    let run = try await ReplayRun(recording)
    #expect(run.lines.filter { $0 == "bind error 4001/2043" }.count == 3)
    #expect(run.lines.contains("account needsLogin"))
    #expect(run.lines.contains("login"))
    #expect(run.outcome.ending.account == .bound)
    #expect(run.outcome.divergence == nil)
  }

  @Test(arguments: [UInt8(3), 5]) func refusedConnectionsAreSeen(code: UInt8) async throws {
    let recording = try await AppSession.record { app in
      app.broker.refuseConnections(of: "dev1&a1pk", code: code)
      try? await app.channel.start()
      try await app.wait(until: 10)
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    switch code {
    case 3:
      #expect(
        run.lines.prefix(6) == [
          "start", "state connecting", "state disconnected 4102/3", "state connecting",
          "state connected", "start ok",
        ])
    default:
      #expect(
        run.lines == [
          "start", "state connecting", "start error 4001/5", "state disconnected 4001/5 final",
        ])
    }
  }

  @Test func manyRequestsAtOnceKeepTheirOrder() async throws {
    let recording = try await AppSession.record { app in
      try await app.connect()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for topic in ["/a", "/b", "/a", "/c"] {
          group.addTask { _ = try await app.channel.invoke(topic) }
        }
        try await group.waitForAll()
      }
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    #expect(run.lines.filter { $0.hasPrefix("invoke ok") }.count == 4)
  }

  @Test func isTheSameEachTime() async throws {
    let recording = try await Self.longSession()
    let first = try await ReplayRun(recording)
    for _ in 0..<20 {
      let again = try await ReplayRun(recording)
      #expect(again.places == first.places)
    }
  }

  // MARK: Pieces of sessions

  /// A session with everything in it.
  static func longSession() async throws -> [UInt8] {
    let script = CloudScript(replies: [
      .init(topic: "/account/bind", requests: [1], code: 2_152),
      .init(topic: "/slow", delay: .seconds(12)), .init(topic: "/twice", faults: [.duplicate]),
    ])
    return try await AppSession.record(script) { app in
      try await app.connect()
      try await app.channel.bind(token: "t")
      _ = try? await app.channel.invoke("/slow")
      _ = try await app.channel.invoke("/twice")
      try await app.wait(until: 30)
      app.broker.drop("app")
      try await app.wait(until: 40)
      app.cloud.push(CloudPush(.status(isOnline: true)), to: app.device)
      _ = try await app.channel.invoke("/twice")
      try await app.channel.unsubscribe("/#")
      try await app.channel.stop()
    }
  }

  /// Killed at any moment, a recording is one of a shorter session.
  @Test func cutAnywhereItIsAShorterSession() async throws {
    let recording = try await Self.longSession()
    let whole = try await ReplayRun(recording)
    let lines = recording.split(separator: UInt8(ascii: "\n"))
    // The header, the opening and CONNECT.
    for count in 3..<lines.count {
      let cut = Array(lines.prefix(count).joined(separator: [UInt8(ascii: "\n")]))
      let run = try await ReplayRun(cut)
      #expect(run.outcome.divergence == nil, "\(count) lines")
      #expect(!run.lines.isEmpty && run.lines.count <= whole.lines.count)
    }
  }

  @Test func aCaptureThatBeginsLateShowsTheRest() async throws {
    let recording = try await Self.longSession()
    let lines = recording.split(separator: UInt8(ascii: "\n"))
    let end = try #require(try await ReplayRun(recording).lines.last)
    // Without any topic nobody can say that it is an app.
    let last = try #require(
      lines.lastIndex { String(decoding: $0, as: UTF8.self).contains("/sys/") })
    for first in 3...last {
      let rest = [lines[0]] + lines[first...]
      let run = try await ReplayRun(Array(rest.joined(separator: [UInt8(ascii: "\n")])))
      #expect(run.outcome.divergence == nil, "from line \(first + 1)")
      #expect(run.lines.last == end)
    }
  }
}
