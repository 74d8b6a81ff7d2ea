import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import SessionDiff

/// Each recording of the package is the same as itself in any form.
@Suite struct RecordingTests {
  private static let names = PackageFolder.recorded.filter { name in
    [".pcap", ".pcapng", ".jsonl"].contains { name.hasSuffix($0) }
  }

  private static func events(_ path: String) throws -> [Event] {
    var list = EventList()
    _ = try SessionInput.read(path, options: InputOptions(), into: &list)
    return list.events
  }

  /// The events of a recording that is written of others.
  private static func recorded(
    _ events: [Event], hiding redaction: RedactionRules = RedactionRules(hidesSecrets: false)
  ) throws -> [Event] {
    let header = RecordingHeader(
      created: nil, source: .capture("a.pcap"), redacted: redaction.ruleNames)
    var writer = try RecordingWriter(MemorySink(), header: header, hiding: redaction)
    for event in events { try event.withView { try writer.consume($0) } }
    try writer.finish()
    return try EventList(recording: writer.sink.bytes).events
  }

  @Test func areThere() { #expect(Self.names.count > 700) }

  @Test(arguments: names)
  func isTheSame(_ name: String) throws {
    let events = try Self.events(PackageFolder.recordings.appending(path: name).path)
    let lines = try SessionComparison(events, events).lines
    #expect(lines == [])
    #expect(try SessionComparison(events, Self.recorded(events)).lines == [])
    let exact = DiffOptions(details: Set(DiffOptions.Detail.allCases))
    #expect(try SessionComparison(events, Self.recorded(events), exact).lines == [])
    let hidden = RedactionRules(hidesUsernames: true, hidesCorrelationData: true)
    #expect(try SessionComparison(events, Self.recorded(events, hiding: hidden)).lines == [])
    // What hides payloads in whole hides nothing else.
    let topics = RedactionRules(topics: ["#"])
    #expect(try SessionComparison(events, Self.recorded(events, hiding: topics)).lines == [])
  }

  /// The short way to the fields of a message leads where the long one does.
  @Test(arguments: ["qos-levels-v311", "non-ascii-topics", "rabbitmq-topics-v311"])
  func readsMessagesInTwoWays(_ name: String) throws {
    var forms = NormalForm(DiffOptions())
    var messages = 0
    for event in try Self.events(PackageFolder.capture(name)) {
      let reading = Reading(kind: .item, lane: .client, index: 0, start: event.context.time)
      event.withView { view in
        guard let message = forms.plainMessage(view, reading) else { return }
        messages += 1
        #expect(message == forms.formByLine(of: view, as: reading))
      }
    }
    #expect(messages > 3)
  }
}
