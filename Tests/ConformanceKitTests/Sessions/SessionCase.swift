import ConformanceKit
import RepriseCore
import Testing

/// A session, and the verdict that it must get by a clause.
struct SessionCase: Sendable, CustomTestStringConvertible {
  let clause: String
  let name: String
  let verdict: Verdict
  /// What the reason must contain, or the first finding's message.
  let saying: String?
  let script: @Sendable (inout Script) -> Void

  var testDescription: String { "\(clause): \(name)" }

  private init(
    _ clause: String, _ name: String, _ verdict: Verdict, _ saying: String?,
    _ script: @escaping @Sendable (inout Script) -> Void
  ) {
    self.clause = clause.hasPrefix("RFC6455-") ? clause : "MQTT-" + clause
    self.name = name
    self.verdict = verdict
    self.saying = saying
    self.script = script
  }

  static func fails(
    _ clause: String, _ name: String, saying: String? = nil,
    _ script: @escaping @Sendable (inout Script) -> Void
  ) -> SessionCase { SessionCase(clause, name, .failed, saying, script) }

  static func passes(
    _ clause: String, _ name: String, _ script: @escaping @Sendable (inout Script) -> Void
  ) -> SessionCase { SessionCase(clause, name, .passed, nil, script) }

  static func isOpen(
    _ clause: String, _ name: String, saying: String,
    _ script: @escaping @Sendable (inout Script) -> Void
  ) -> SessionCase { SessionCase(clause, name, .inconclusive, saying, script) }

  static func isIdle(
    _ clause: String, _ name: String, _ script: @escaping @Sendable (inout Script) -> Void
  ) -> SessionCase { SessionCase(clause, name, .notExercised, nil, script) }

  static let all =
    strings + headers + connects + identifiers + topics + openings + deliveries + orders
    + subscriptions + unsubscriptions + lives + endings + receivers + carriers + doubts + nearMisses
    + boundaries
    + webSocket

  /// The sessions of RFC 6455.
  static let webSocket =
    requests + responses + negotiations + masks + frameHeaders + fragments + texts + closes + pings
}

/// The catalogue, which is read once: that takes longer than most sessions.
private let bundled = Result { try Catalogue.bundled() }

/// Judges events and returns the report.
func judge(
  _ events: [Event], options: ConformanceOptions = ConformanceOptions()
) throws -> ConformanceReport {
  var judge = try ConformanceJudge(catalogue: bundled.get(), options: options)
  judge.begin(file: "test.pcap")
  for event in events { event.withView { judge.consume($0) } }
  judge.endFile()
  return judge.report(toolVersion: "1")
}

/// Judges one connection and returns the report.
func judge(
  options: ConformanceOptions = ConformanceOptions(), _ write: (inout Script) -> Void
) throws -> ConformanceReport {
  var script = Script()
  write(&script)
  return try judge(script.events, options: options)
}
