import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Sessions of several connections and all that comes of them")
struct SharedCaseTests {
  @Test("Each session gets its whole verdict", arguments: SharedCase.all)
  func verdict(_ session: SharedCase) throws {
    for version in session.versions { try session.check(version) }
  }

  @Test("A finding rests on the connection that granted the filter, which may be one before")
  func evidence() throws {
    let session = try #require(
      SharedCase.all.first {
        $0.testDescription
          == "a live message with RETAIN for a filter that was granted on the connection before"
      })
    let findings = try session.judged(.v3_1_1).flatMap(\.findings)
    let rests = findings.map { $0.evidence.map { "\($0.frame) \($0.connection) \($0.role)" } }
    #expect(rests == [["8 1 SUBACK of a filter that matches", "13 2 published with QoS 0"]])
    #expect(findings.map(\.connection) == [3])
  }

  @Test("Of a selection nobody knows that nobody else published what a client published")
  func selectionsOfMessages() throws {
    let session = try #require(
      SharedCase.all.first {
        $0.testDescription == "a client's own messages though its filter is No Local"
      })
    var script = Script(version: .v5_0)
    session.script(&script)
    for missing in [.publishersLeftOut, .framesDropped, nil] as [UndecidedReason?] {
      var judge = try ConformanceJudge(catalogue: .bundled())
      judge.begin(file: "f")
      if missing == .publishersLeftOut { judge.note(.leftOut) }
      for event in script.events { event.withView { judge.consume($0) } }
      // A capture says it at its end.
      if missing == .framesDropped { judge.note(.dropped) }
      let results = judge.report(toolVersion: "1").results
      let result = try #require(
        results.first { $0.clause.spec == "mqtt-5.0" && $0.clause.id == "MQTT-3.8.3-3" })
      #expect((result.violated, result.undecided) == (missing == nil ? (2, 0) : (0, 2)))
      #expect(result.reasons.map(\.reason) == [missing].compactMap(\.self))
    }
  }

  @Test(
    "Of a selection nobody knows that a connection of a client is the next one", arguments: 0...2)
  func selections(_ way: Int) throws {
    var script = Script(version: .v3_1_1)
    script.join("c")
    script.finish()
    script.on(2) {
      $0.join("c", cleanStart: false, isPresent: true)
      $0.finish()
    }
    var judge = try ConformanceJudge(catalogue: .bundled())
    // The next file is none.
    for (file, isSelection) in [("part", true), ("whole", false)] {
      judge.begin(file: file)
      if way == 1, isSelection { judge.note(.leftOut) }
      for var event in script.events {
        // One mark is enough, as lines of a selection have it all.
        event.context.isSelected = way == 2 && isSelection
        event.withView { judge.consume($0) }
      }
      judge.endFile()
    }
    let failed = judge.report(toolVersion: "").results.filter { $0.verdict == .failed }
    #expect(Set(failed.map(\.clause.id)) == ["MQTT-3.1.2-6", "MQTT-3.2.2-3"])
    for result in failed {
      #expect(result.findings.map(\.file) == (way == 0 ? ["part", "whole"] : ["whole"]))
      #expect(result.undecided == (way == 0 ? 0 : 1))
    }
  }

  @Test(
    "One message is enough where nobody else can have published the same, as in a drive",
    arguments: [
      (
        "what may be a client's own message, or another's that says the same", "MQTT-3.8.3-3", 2,
        UndecidedReason.oneMessageAlone
      ),
      ("a message that expired a moment before the client was back", "MQTT-3.3.2-5", 2, .onItsWay),
      ("a message that had not expired when the client was back", "MQTT-3.3.2-5", 0, .onItsWay),
    ])
  func ownMessages(
    _ name: String, _ clause: String, violated: Int, _ otherwise: UndecidedReason
  ) throws {
    let session = try #require(SharedCase.all.first { $0.testDescription == name })
    var script = Script(version: .v5_0)
    session.script(&script)
    for isOwn in [true, false] {
      var options = ConformanceOptions(specs: ["mqtt-5.0"], clauses: [clause])
      options.isDriven = isOwn
      var judge = try ConformanceJudge(catalogue: .bundled(), options: options)
      // Of the next file it is true as well.
      for file in ["f", "g"] {
        judge.begin(file: file)
        for event in script.events { event.withView { judge.consume($0) } }
        judge.endFile()
      }
      let result = try #require(judge.report(toolVersion: "1").results.first)
      #expect((result.violated, result.undecided) == (isOwn ? (violated, 0) : (0, violated)))
      #expect(result.reasons.map(\.reason) == (isOwn || violated == 0 ? [] : [otherwise]))
    }
  }

  @Test(
    "A server that is driven has what it acknowledged a second ago",
    arguments: [(true, 1.1, 1), (true, 0.9, 0), (false, 1.1, 0)])
  func acknowledgedBefore(isOwn: Bool, seconds: Double, violated: Int) throws {
    for (version, clause) in [(MQTTVersion.v3_1_1, "MQTT-3.3.1-8"), (.v5_0, "U5-3.8.3.1-4")] {
      var script = Script(version: version)
      script.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", qos: 1, id: 1, retain: true)
        $0.acknowledge(.server, .puback, 1)
      }
      script.wait(seconds)
      script.join("s")
      script.ask(1, "a")
      script.say(.server, "a", "1")
      script.part()
      var options = ConformanceOptions(specs: ["mqtt-3.1.1", "mqtt-5.0"])
      options.isDriven = isOwn
      var judge = try ConformanceJudge(catalogue: .bundled(), options: options)
      judge.begin(file: "f")
      for event in script.events { event.withView { judge.consume($0) } }
      judge.endFile()
      let failed = judge.report(toolVersion: "1").results.filter { $0.violated > 0 }
      #expect(failed.map(\.clause.id) == (violated > 0 ? [clause] : []))
      #expect(failed.map(\.violated) == (violated > 0 ? [1] : []))
    }
  }

  @Test("Only of a server that is driven is known soon that a message does not come again")
  func neverAgain() throws {
    let session = try #require(
      SharedCase.all.first {
        $0.testDescription == "a server's message that does not come again"
      })
    var script = Script(version: .v3_1_1)
    session.script(&script)
    for (hasOwnMessages, isDriven) in [(false, false), (true, false), (false, true)] {
      var options = ConformanceOptions(clauses: ["mqtt-3.1.1/MQTT-4.4.0-1"])
      options.hasOwnMessages = hasOwnMessages
      options.isDriven = isDriven
      let result = try #require(judge(script.events, options: options).results.first)
      let expected = isDriven ? (1, 0) : (0, 1)
      #expect((result.violated, result.undecided) == expected)
    }
  }

  @Test("Repeats say nothing of connections that are missing where more were open than are kept")
  func moreRepeatsThanAreKept() throws {
    var script = Script(version: .v3_1_1)
    func leave(_ client: String, _ connection: Int, _ count: UInt16, repeating: ClosedRange<UInt16>)
    {
      script.on(connection) {
        $0.join(client, cleanStart: false)
        for id in 1...count { $0.say(.client, "a", "\(client) \(id)", qos: 1, id: id) }
        $0.close(.client)
      }
      script.on(connection + 1) {
        $0.join(client, cleanStart: false, isPresent: true)
        for id in repeating {
          $0.say(.client, "a", "\(client) \(id)", qos: 1, id: id, dup: true)
          $0.acknowledge(.server, .puback, id)
        }
        $0.say(.client, "a", "\(client) and more", qos: 1, id: count + 1)
        $0.acknowledge(.server, .puback, count + 1)
        $0.wait(1)
        $0.finish()
      }
    }
    leave("x", 5, 257, repeating: 1...257)
    leave("y", 7, 257, repeating: 1...257)
    leave("c", 9, 2, repeating: 2...2)
    var judge = try ConformanceJudge(catalogue: .bundled())
    judge.begin(file: "f")
    for event in script.events { event.withView { judge.consume($0) } }
    judge.endFile()
    let failed = judge.report(toolVersion: "1").results.filter { $0.violated > 0 }
    #expect(failed.map(\.clause.id) == ["MQTT-4.4.0-1"])
    #expect(failed.map(\.violated) == [1])
  }

  @Test("A connection that can't be read may be the one between two of a client, if it began then")
  func unreadConnections() throws {
    var script = Script(version: .v3_1_1)
    script.join("c")
    script.finish()
    script.wait(2)
    script.on(2) {
      $0.join("c", cleanStart: false, isPresent: true)
      $0.finish()
    }
    let times = script.events.map(\.context.time)
    let last = try #require(script.events.last { $0.context.connection == 1 }?.context.time)
    let next = try #require(times.first { $0 > last })
    func after(_ time: Timestamp, _ nanoseconds: Int64) -> Timestamp {
      Timestamp(nanoseconds: time.nanoseconds + nanoseconds)
    }
    let first = try #require(times.first)
    let begun: [(ClosedRange<Timestamp>?, isBetween: Bool)] = [
      (nil, false), (after(last, 1)...after(last, 2), true),
      (Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max), true),
      (Timestamp(nanoseconds: .min)...after(first, -1), false),
      (after(next, 2_000_000_000)...after(next, 3_000_000_000), false),
    ]
    for (time, isBetween) in begun {
      var judge = try ConformanceJudge(catalogue: .bundled())
      judge.begin(file: "f")
      for event in script.events { event.withView { judge.consume($0) } }
      if let time { judge.note(.unread(begun: [time])) }
      let results = judge.report(toolVersion: "").results
      let failed = results.filter { $0.verdict == .failed }.map(\.clause.id)
      #expect(Set(failed) == (isBetween ? [] : ["MQTT-3.1.2-6", "MQTT-3.2.2-3"]), "\(begun)")
    }
  }

  @Test("What a will says a service may say as well, however long it is", arguments: [true, false])
  func longWill(_ isComplete: Bool) throws {
    var script = Script(version: .v3_1_1)
    let text = "the lamp is gone away"
    script.join("s")
    script.ask(1, "a")
    script.on(2) { $0.join("p") }
    script.on(3) {
      $0.join("w", will: .init(topic: "a", payload: Array(text.utf8), qos: 0, retain: false))
      $0.close(.client, .reset)
    }
    script.say(.server, "a", text, qos: 1, id: 1)
    script.acknowledge(.client, .puback, 1)
    script.part()
    var options = ConformanceOptions(clauses: ["mqtt-3.1.1/MQTT-3.8.4-6"])
    options.hasOwnMessages = isComplete
    let result = try #require(try judge(script.events, options: options).results.first)
    #expect((result.violated, result.undecided) == (isComplete ? (1, 0) : (0, 1)))
  }

  @Test("Each session has a name of its own")
  func names() { #expect(Set(SharedCase.all.map(\.testDescription)).count == SharedCase.all.count) }
}

extension SharedCase {
  static let all =
    routing + retaining + forwarding + ordering + identifying + acknowledging + resuming + numbering
    + willing
    + keeping + explained + absences + verbatim + replacing + reusing + namedWills + sharing
    + elsewhere + toldLate + unseenPublishers + answeredBefore + saidAgain + crossing + ownRules
    + takenMessages
    + repeatedStates + forgetting
}
