import Foundation
import RepriseCore
import TestSupport
import Testing

/// A session with more findings of a clause than are kept: whoever shows them says so, and a story has those of its client.
@Suite struct ManyFindingsTests {
  private static let many = 1_203

  private let scratch = Scratch()
  private let file: String

  /// A client whose filters are wrong 1,203 times, and behind it one whose filter is wrong once.
  init() throws {
    var lines = [SampleRecording.header]
    func add(_ line: String, _ connection: Int) {
      lines.append(
        line.replacing("\"connection\":1", with: "\"connection\":\(connection)")
          .replacing("{\"frame\":1,", with: "{\"frame\":\(lines.count),"))
    }
    func subscribe(_ packetID: Int) -> String {
      SampleRecording.line(
        #""type":"SUBSCRIBE","length":8,"packetID":\#(packetID),"#
          + #""filters":[{"filter":"a#b","qos":0}]"#)
    }
    add(SampleRecording.connect, 1)
    add(SampleRecording.connack, 1)
    for packetID in 1...Self.many { add(subscribe(packetID), 1) }
    add(SampleRecording.connect.replacing("\"c\"", with: "\"d\""), 2)
    add(SampleRecording.connack, 2)
    add(subscribe(1), 2)
    file = try scratch.write(lines.joined(separator: "\n") + "\n", to: "many.jsonl").path
  }

  private func story(_ client: String) throws -> JSONValue {
    let words = ["story", "--client", client, "--format", "json", file]
    return try #require(
      JSONValue(parsing: Array(try RepriseProcess.run(words).output.utf8)))
  }

  private func violations(_ story: JSONValue) -> [JSONValue] {
    guard case .array(let all)? = story["violations"] else { return [] }
    return all.filter { $0["clause"]?.text == "MQTT-4.7.1-2" }
  }

  @Test func areToldOfTheClientOfAStory() throws {
    let late = try story("d")
    #expect(violations(late).map { $0["frame"]?.integer } == [Self.many + 6])
    #expect(late["untoldViolations"] == nil)
    let busy = try story("c")
    #expect(violations(busy).count == 1_000 && busy["untoldViolations"]?.integer == 203)
    #expect(violations(busy).map { $0["frame"]?.integer } == Array(4...1_003))
    let text = try RepriseProcess.run(["story", "--client", "c", file]).output
    #expect(text.components(separatedBy: "\nViolated: ").count == 3)
    #expect(text.contains(" in frame 4, connection 1 and 999 times more: "))
    #expect(text.hasSuffix("\nViolated: 203 more, which reprise conform trace tells.\n"))
  }

  @Test func areCountedWhereAnEventIsLookedAt() throws {
    let result = try RepriseProcess.run(["view", "--at", "\(Self.many + 6)", file])
    // The one of the other client is beyond those that are kept.
    #expect(!result.output.contains("4.7.1-2") && result.status == 0)
    #expect(
      result.errors
        == "reprise: \(file): note: 1000 of 1204 findings are shown: of a clause the first 1000; "
        + "reprise conform trace counts all\n")
    let kept = try RepriseProcess.run(["view", "--at", "1002", file])
    #expect(kept.output.contains("MQTT-4.7.1-2"))
  }

  @Test func areCountedInSARIF() throws {
    let result = try RepriseProcess.run(
      ["conform", "trace", "--clause", "mqtt-3.1.1/MQTT-4.7.1-2", "-f", "sarif", file])
    let text = "mqtt-3.1.1/MQTT-4.7.1-2: 100 of 1204 findings are among the results"
    #expect(result.output.contains(#"{"level":"note","message":{"text":"\#(text)"}}"#))
  }

  @Test func areCountedOnThePage() throws {
    let path = scratch.file("page.html")
    let result = try RepriseProcess.run(["inspect", "--format", "html", file, "-o", path])
    #expect(
      result.errors
        == "reprise: \(path): note: the page has 1000 of 1204 findings: of a clause the first 1000; "
        + "reprise conform trace counts all\n")
    let seen = try #require(
      try BrowserProcess.run(["counts", path]).first as? [String: Any])
    #expect(seen["button"] as? String == "1,000 of 1,204 findings")
    #expect(seen["heading"] as? String == "1,000 of 1,204 findings")
    #expect(seen["note"] as? Bool == true && seen["items"] as? Int == 1_000)
    #expect(seen["stray"] as? Int == 0)
    #expect(seen["facts"] as? String == "1,208 events, 2 connections, 0 ns")
    #expect(seen["console"] as? [String] == [])
  }
}
