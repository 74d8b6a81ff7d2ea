import RepriseCore
import Wire

@testable import ConformanceKit

/// All that comes of a session, in a few lines of text: every clause that it touches.
///
///     ! 3.8.4-5 server @5          a violation by the server, shown at frame 5
///       the server …; was 1 code   what is said of it
///       @4 SUBSCRIBE, on 2         what it rests on: the frame, its role, and the connection where it is another
///     ? 3.14.4-1 clientGap @7 @9   left undecided twice, and for which reason
///     +1 2.3.1-7 3.8.4-1           kept once
///     +90 in all by format         how often all clauses of 5.0 that speak of the format of packets were kept
///
/// Clauses of format are left out of the last kind of line but one where they were kept once by each packet that
/// they speak of, by a table of its own here.
struct SessionTally {
  let lines: [String]

  /// A judge that has judged nothing, of which each session takes a copy: to make one takes longer than to judge.
  static func freshJudge(of version: MQTTVersion = .v3_1_1) throws -> ConformanceJudge {
    try ConformanceJudge(
      catalogue: .bundled(),
      options: ConformanceOptions(
        specs: [version.spec, "rfc6455"], isStrict: true, maximumFindings: 100_000))
  }

  init(
    _ script: (inout Script) -> Void, by fresh: ConformanceJudge, in version: MQTTVersion = .v3_1_1
  ) {
    var session = Script(version: version)
    script(&session)
    let events = session.events
    var judge = fresh
    judge.begin(file: "test.pcap")
    for event in events { event.withView { judge.consume($0) } }
    judge.endFile()
    let results = judge.report(toolVersion: "1").results
    var lines: [String] = []
    for result in results where result.violated > 0 {
      let frames = Self.places(result.findings.map(\.frame))
      let blamed = Set(result.findings.map { Self.subject(of: $0.message) }).sorted()
      lines.append("! \(Self.short(result)) \(blamed.joined(separator: " and ")) \(frames)")
      lines += Self.findings(result)
    }
    for result in results where result.undecided > 0 {
      var reasons: [String] = []
      for place in result.places where !reasons.contains(place.reason) {
        reasons.append(place.reason)
      }
      for reason in reasons {
        let frames = Self.places(result.places.filter { $0.reason == reason }.map(\.frame))
        let name = UndecidedReason.allCases.first { $0.text == reason }.map { "\($0)" } ?? reason
        lines.append("? \(Self.short(result)) \(name) \(frames)")
      }
      if result.places.count < result.undecided {
        lines.append("? \(Self.short(result)) \(result.undecided) times")
      }
    }
    let formats = FormatClause.counts(events)
    let isOfFormat = { (result: ClauseResult) in
      version == .v5_0 && FormatClause.isOf5(result.clause.id)
    }
    let times = results.filter(isOfFormat).reduce(0) { $0 + $1.satisfied }
    if times > 0 { lines.append("+\(times) in all by format") }
    let folds = results.filter { $0.satisfied > 0 && !isOfFormat($0) }
    let kept = Dictionary(grouping: folds, by: \.satisfied)
    for (count, results) in kept.sorted(by: { $0.key < $1.key }) {
      let others = results.filter { formats[$0.clause.id] != count }
      guard !others.isEmpty else { continue }
      lines.append("+\(count) " + others.map(Self.short).joined(separator: " "))
    }
    // A clause of format that says nothing of packets that it speaks of.
    for result in results where result.satisfied == 0 && result.violated + result.undecided == 0 {
      if let count = formats[result.clause.id] {
        lines.append("0 of \(count) \(Self.short(result))")
      }
    }
    self.lines = lines
  }

  /// What is said of the first violations, those together that it is the same of.
  private static func findings(_ result: ClauseResult) -> [String] {
    var lines: [String] = []
    for finding in result.findings.prefix(8) {
      let said = ["  \(finding.message); was \(finding.actual), not \(finding.expected)"]
      let evidence = finding.evidence.map { evidence in
        let isOther = evidence.connection != finding.connection
        return "  @\(evidence.frame) \(evidence.role)"
          + (isOther ? ", on \(evidence.connection)" : "")
      }
      let block = said + evidence
      if lines.suffix(block.count) != block { lines += block }
    }
    return lines
  }

  static func short(_ result: ClauseResult) -> String {
    let id = result.clause.id
    return id.hasPrefix("MQTT-") ? String(id.dropFirst(5)) : id
  }

  private static func places(_ frames: [Int]) -> String {
    frames.map { "@\($0)" }.joined(separator: " ")
  }

  /// The end that does what a finding tells.
  private static func subject(of message: String) -> String {
    for peer in Peer.allCases where message.hasPrefix("the \(peer.rawValue)") {
      return peer.rawValue
    }
    return "nobody"
  }
}

/// The packets that a clause of format speaks of, as the standard has it.
struct FormatClause {
  private var types: Set<MQTTPacketType> = []
  /// The QoS of a PUBLISH.
  private var qos: Set<UInt8> = [0, 1, 2, 3]
  /// The bits of the flags of a CONNECT that must be set, and those that must not; nil where it speaks of none.
  private var flags: (set: UInt8, clear: UInt8)?
  /// Whether it speaks of refusals alone.
  private var isOfRefusals = false

  private func speaks(of packet: borrowing MQTTPacketView) -> Bool {
    switch packet.type {
    case .connect:
      guard let flags, let connect = packet.connect else { return false }
      return connect.flags & flags.set == flags.set && connect.flags & flags.clear == 0
    case .connack where isOfRefusals: return packet.reasonCode != 0
    case .publish: return types.contains(.publish) && qos.contains(packet.qos)
    default: return types.contains(packet.type)
    }
  }

  private static let text: Set<MQTTPacketType> = [.publish, .subscribe, .unsubscribe]
  private static let any = (set: UInt8(0), clear: UInt8(0))
  private static let will = (set: UInt8(0b100), clear: UInt8(0))
  private static let noWill = (set: UInt8(0), clear: UInt8(0b100))
  private static let username = (set: UInt8(0x80), clear: UInt8(0))
  private static let noUsername = (set: UInt8(0), clear: UInt8(0x80))

  private static let table: [String: FormatClause] = [
    "1.5.3-1": .init(types: text, flags: any), "1.5.3-2": .init(types: text, flags: any),
    "2.2.2-1": .init(
      types: [
        .connack, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe,
        .unsuback, .pingreq, .pingresp, .disconnect,
      ], flags: any),
    "2.3.1-1": .init(types: text, qos: [1, 2]),
    "3.1.2-9": .init(flags: will), "3.1.2-11": .init(flags: noWill),
    "3.1.2-13": .init(flags: noWill), "3.1.2-14": .init(flags: will),
    "3.1.2-15": .init(flags: noWill), "3.1.2-18": .init(flags: noUsername),
    "3.1.2-19": .init(flags: username), "3.1.2-20": .init(flags: (0, 0x40)),
    "3.1.2-21": .init(flags: (0x40, 0)), "3.1.2-22": .init(flags: noUsername),
    "3.1.3-3": .init(flags: any), "3.1.3-4": .init(flags: any), "3.1.3-10": .init(flags: will),
    "3.1.3-11": .init(flags: username), "3.2.2-4": .init(isOfRefusals: true),
    "3.3.1-2": .init(types: [.publish], qos: [0]), "3.3.1-4": .init(types: [.publish]),
    "3.3.2-1": .init(types: [.publish]), "3.3.2-2": .init(types: [.publish]),
    "3.6.1-1": .init(types: [.pubrel]), "3.8.1-1": .init(types: [.subscribe]),
    "3.8.3-1": .init(types: [.subscribe]), "3.8.3-3": .init(types: [.subscribe]),
    "3.9.3-2": .init(types: [.suback]), "3.10.1-1": .init(types: [.unsubscribe]),
    "3.10.3-1": .init(types: [.unsubscribe]), "3.10.3-2": .init(types: [.unsubscribe]),
    "4.3.1-1": .init(types: [.publish], qos: [0]),
    "4.7.1-1": .init(types: [.publish], flags: will),
    "4.7.1-2": .init(types: [.subscribe, .unsubscribe]),
    "4.7.1-3": .init(types: [.subscribe, .unsubscribe]),
    "4.7.3-1": .init(types: text, flags: will), "4.7.3-2": .init(types: text, flags: will),
  ]

  /// Whether a clause of 5.0 is of this kind; what is said of identifiers in use, too, is not.
  static func isOf5(_ id: String) -> Bool { idsOf5.contains(id) }

  private static let idsOf5 = Set(
    FaultRule.rules(of: .v5_0).compactMap { $0.clauses[.v5_0] }
  ).subtracting(["MQTT-2.2.1-3", "MQTT-2.2.1-4"])

  /// The clauses that are of this kind.
  static let ids = Array(table.keys) + ["3.1.3-1", "3.1.3-7"]

  /// How many packets of a session the clauses speak of, as far as the version of its connection is known.
  static func counts(_ events: [Event]) -> [String: Int] {
    var counts: [String: Int] = [:]
    for event in events where event.context.wire == .mqtt(.v3_1_1) {
      event.withView { view in
        guard case .mqtt(let packet) = view.body else { return }
        for (id, clause) in table where clause.speaks(of: packet) {
          counts["MQTT-" + id, default: 0] += 1
        }
      }
    }
    return counts
  }
}
