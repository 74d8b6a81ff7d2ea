import CloudSimulator
import RepriseCore
import Wire

/// Text of any bytes.
enum TextFuzz {
  static func runJSON(_ bytes: [UInt8]) {
    guard let value = JSONValue(parsing: bytes) else { return }
    let written = value.utf8
    demand(JSONValue(parsing: Array(written)) == value, "JSON is another when it is read again")
    let hidden = value.hidingSecrets
    demand(hidden.hidingSecrets == hidden, "what is hidden is hidden again")
  }

  static func runSecrets(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    _ = text.hidingSecrets
    var line: [UInt8] = []
    EventJSONWriter().append(data: bytes.span.bytes, to: &line)
    demand(JSONValue(parsing: line) != nil, "no JSON is written of a payload")
  }

  static func runFilter(_ bytes: [UInt8]) {
    guard var filter = try? SessionFilter(String(decoding: bytes, as: UTF8.self)) else { return }
    let context = EventContext(
      time: Timestamp(nanoseconds: 1_000), frame: 1, connection: 1, sender: .client,
      wire: .mqtt(.v3_1_1))
    let publish: [UInt8] = [0x30, 0x09, 0, 3] + Array("a/b21.5".utf8.prefix(7))
    Event(context, .mqtt(PacketBytes(publish))).withView { _ = filter.matches($0) }
  }

  static func runScripts(_ bytes: [UInt8]) {
    _ = try? CloudScript(parsing: bytes)
    _ = try? RequestScript(parsing: bytes)
    _ = try? LocalFileClient(files: ["a.json": bytes])
  }

  static func runWords(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let time = Timestamp(text) {
      demand(Timestamp(time.description) == time, "a time is another when it is read again")
    }
    let parts = text.split(separator: "\n", maxSplits: 1)
    let (filter, topic) = (Array((parts.first ?? "").utf8), Array((parts.last ?? "").utf8))
    _ = MQTTTopicFilter.matches(filter.span.bytes, topic: topic.span.bytes)
    _ = Subscription(text).isWellFormed
    var rules = RedactionRules()
    _ = try? rules.add(typed: text)
    var shown: [UInt8] = []
    TerminalText.append(bytes.span.bytes, to: &shown, limit: 100)
    demand(!shown.contains { $0 < 0x20 || $0 == 0x7F }, "a control character at the terminal")
  }
}
