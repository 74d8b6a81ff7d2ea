import ConformanceKit
package import RepriseCore
import Statistics

extension EventPage: JSONRepresentable {
  /// The page for programs.
  ///
  /// `event` is the line of `inspect`, `bytes` are two hexadecimal digits each, or `**`.
  package var json: JSONValue {
    var members: [JSONMember] = [
      JSONMember("event", event),
      JSONMember("answers", .array(questions.map { Self.json($0) })),
      JSONMember("answeredBy", .array(answers.map { Self.json($0) })),
    ]
    if !fates.isEmpty {
      let open = fates.map { JSONValue(["exchange": $0.kind.name, "outcome": $0.name]) }
      members.append(JSONMember("withoutAnswer", .array(open)))
    }
    members.append(JSONMember("findings", .array(findings.map { Self.json($0) })))
    members.append(JSONMember("connection", picture.json(at: context.time, hiding: redaction)))
    if let bytes {
      members.append(JSONMember("size", bytes.count.json))
      members.append(JSONMember("bytes", bytes.hexadecimal.json))
    }
    return .object(members)
  }

  private static func json(_ relation: Relation) -> JSONValue {
    JSONValue([
      "frame": relation.frame, "connection": relation.connection, "type": relation.type,
      "exchange": relation.pair.kind.name, "seconds": Double(relation.pair.nanoseconds) / 1e9,
    ])
  }

  private static func json(_ found: SessionFinding) -> JSONValue {
    JSONValue([
      "clause": found.clause.id, "spec": found.clause.spec, "level": found.clause.level.rawValue,
      "message": found.finding.message, "expected": found.finding.expected,
      "actual": found.finding.actual,
      "evidence": found.finding.evidence.map {
        JSONValue(["frame": $0.frame, "connection": $0.connection, "role": $0.role])
      },
    ])
  }
}

extension ConnectionPicture {
  /// The picture for programs.
  /// - Parameters:
  ///   - time: The moment that it is of.
  ///   - redaction: What is not told.
  /// - Returns: An object.
  package func json(at time: Timestamp, hiding redaction: RedactionRules) -> JSONValue {
    var members: [JSONMember] = [
      JSONMember("number", number.json), JSONMember("state", phase.rawValue.json),
      JSONMember("protocol", wire.json),
    ]
    if let ends {
      members.append(JSONMember("client", redaction.shown(url: ends.client).json))
      members.append(JSONMember("server", redaction.shown(url: ends.server).json))
    }
    if let client {
      members.append(JSONMember("clientID", redaction.shown(client).json))
      members.append(JSONMember("keepAlive", keepAlive.json))
      members.append(JSONMember("clean", isClean.json))
    }
    if let isSessionPresent { members.append(JSONMember("sessionPresent", isSessionPresent.json)) }
    if let willTopic { members.append(JSONMember("willTopic", redaction.shown(willTopic).json)) }
    if let ending { members.append(JSONMember("how", ending.json)) }
    members.append(
      JSONMember(
        "sent",
        .array(
          Peer.allCases.compactMap { peer in
            sent[peer].map { sent in
              let silence = max(0, time.nanoseconds(since: sent.last))
              return JSONValue([
                "from": peer.rawValue, "events": sent.count, "silence": Double(silence) / 1e9,
              ])
            }
          })))
    members.append(JSONMember("openPings", openPings.json))
    members.append(
      JSONMember(
        "subscriptions",
        .array(
          subscriptions.map {
            JSONValue([
              "filter": redaction.shown($0.filter), "qos": Int($0.qos), "granted": $0.isGranted,
              "frame": $0.frame,
            ])
          })))
    members.append(
      JSONMember(
        "inFlight",
        .array(
          inFlight.map {
            JSONValue([
              "id": Int($0.id), "from": $0.sender.rawValue, "type": $0.type,
              "waitsFor": $0.waitsFor, "about": redaction.shown($0.topic), "frame": $0.frame,
            ])
          })))
    return .object(members)
  }
}
