import ConformanceKit
package import RepriseCore
import Statistics

/// A line of a page, of which nothing steers a terminal.
package struct PageLine: Sendable, Hashable {
  /// What a line is.
  package enum Style: Sendable, Hashable {
    /// A heading.
    case title
    /// What is told.
    case plain
    /// What is wrong.
    case fault
    /// What is less important.
    case quiet
  }

  /// The text.
  package var text: String
  /// What it is.
  package var style: Style

  /// Creates a line.
  /// - Parameters:
  ///   - text: The text; what could steer a terminal is shown by its number.
  ///   - style: What the line is.
  package init(_ text: String, _ style: Style = .plain) {
    var shown: [UInt8] = []
    TerminalText.append(Array(text.utf8).span.bytes, to: &shown)
    self.text = String(decoding: shown, as: UTF8.self)
    self.style = style
  }
}

extension EventPage {
  /// The page for people.
  /// - Parameter width: How many bytes a line of bytes has.
  /// - Returns: The lines.
  package func lines(bytesPerLine width: Int = 16) -> [PageLine] {
    let way = context.sender == .client ? "client → server" : "server → client"
    var lines = [
      PageLine(
        "Frame \(context.frame), connection \(context.connection), \(way), \(context.time)", .title)
    ]
    lines += findings.flatMap { Self.lines(of: $0) }
    lines += relations
    lines.append(PageLine("Fields", .title))
    Self.append(event, named: nil, depth: 0, to: &lines)
    lines.append(PageLine("Connection \(context.connection) at this event", .title))
    lines += picture.lines(at: context.time, hiding: redaction)
    if let bytes {
      lines.append(PageLine("Bytes \(bytes.title) (\(bytes.count))", .title))
      lines += bytes.lines(of: width).map { PageLine("  \($0)", .quiet) }
    }
    return lines
  }

  private static func lines(of found: SessionFinding) -> [PageLine] {
    var lines = [
      PageLine(
        "! \(found.clause.id) (\(found.clause.level.rawValue)): \(found.finding.message)", .fault),
      PageLine("  expected  \(found.finding.expected)"),
      PageLine("  actual    \(found.finding.actual)"),
    ]
    for evidence in found.finding.evidence {
      lines.append(
        PageLine("  rests on  frame \(evidence.frame), #\(evidence.connection): \(evidence.role)"))
    }
    return lines
  }

  private var relations: [PageLine] {
    questions.map {
      PageLine(
        "← answers frame \($0.frame) \($0.type), after \(Self.time($0.pair.nanoseconds))")
    }
      + answers.map {
        PageLine(
          "→ answered by frame \($0.frame) \($0.type), after \(Self.time($0.pair.nanoseconds))")
      } + fates.map { PageLine("→ no answer (\($0.kind.title)): \($0.words)", .fault) }
  }

  /// A time as people write it, as in `0.35 ms`.
  static func time(_ nanoseconds: Int) -> String {
    let value = Double(nanoseconds)
    func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
    if abs(value) < 1e6 { return "\(rounded(value / 1e3)) µs" }
    if abs(value) < 1e9 { return "\(rounded(value / 1e6)) ms" }
    return "\(rounded(value / 1e9)) s"
  }

  /// Names the members of an object that the title of the page tells.
  private static let told: Set<String> = ["frame", "time", "connection", "from"]

  private static func append(
    _ value: JSONValue, named name: String?, depth: Int, to lines: inout [PageLine]
  ) {
    let indent = String(repeating: "  ", count: depth + (name == nil ? 0 : 1))
    switch value {
    case .object(let members) where !members.isEmpty:
      if let name { lines.append(PageLine("\(indent)\(name)")) }
      for member in members where depth > 0 || !told.contains(member.key) {
        append(member.value, named: member.key, depth: name == nil ? 0 : depth + 1, to: &lines)
      }
    case .array(let values) where values.contains(where: \.isLarge):
      if let name { lines.append(PageLine("\(indent)\(name)")) }
      for value in values {
        lines.append(PageLine("\(indent)  \(value)"))
      }
    default:
      let text = if case .string(let text) = value { text } else { "\(value)" }
      lines.append(PageLine("\(indent)\(padded(name ?? "", 14))  \(text)"))
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

extension JSONValue {
  /// Whether it is an object or an array with something in it.
  fileprivate var isLarge: Bool {
    switch self {
    case .object(let members): !members.isEmpty
    case .array(let values): !values.isEmpty
    default: false
    }
  }
}

extension ConnectionPicture {
  /// The picture for people.
  /// - Parameters:
  ///   - time: The moment that it is of.
  ///   - redaction: What is not told.
  /// - Returns: The lines.
  package func lines(at time: Timestamp, hiding redaction: RedactionRules) -> [PageLine] {
    var lines = [PageLine("  \(phase.rawValue), \(wire)\(ending.map { ", \($0)" } ?? "")")]
    if let ends {
      lines.append(
        PageLine(
          "  \(redaction.shown(url: ends.client)) → \(redaction.shown(url: ends.server))"))
    }
    if let client {
      let present = isSessionPresent.map { $0 ? ", session present" : ", no session before" } ?? ""
      lines.append(
        PageLine(
          "  client \"\(redaction.shown(client))\", keep alive \(keepAlive) s"
            + (isClean ? ", clean" : "") + present))
    }
    if let willTopic { lines.append(PageLine("  will       \(redaction.shown(willTopic))")) }
    for peer in Peer.allCases {
      guard let sent = sent[peer] else { continue }
      let silence = max(0, time.nanoseconds(since: sent.last))
      lines.append(
        PageLine(
          "  \(peer.rawValue)     \(sent.count) sent, silent for \(EventPage.time(Int(silence)))"))
    }
    for held in subscriptions {
      let state = held.isGranted ? "qos \(held.qos)" : "asked for, qos \(held.qos)"
      lines.append(
        PageLine("  subscribed \(redaction.shown(held.filter))  \(state), frame \(held.frame)"))
    }
    for flight in inFlight {
      lines.append(
        PageLine(
          "  in flight  \(flight.type) \(flight.id) of the \(flight.sender.rawValue) waits for "
            + "\(flight.waitsFor), frame \(flight.frame)  \(redaction.shown(flight.topic))"))
    }
    if openPings > 0 { lines.append(PageLine("  in flight  \(openPings) PINGREQ")) }
    return lines
  }
}
