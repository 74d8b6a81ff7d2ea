package import RepriseCore
package import Wire

/// One thing that is provoked: what is done for it, in which versions, and with which values.
///
/// It says nothing of what must come of it: that is for the clauses, which judge what was recorded.
package struct DrivenCase: Sendable, Hashable {
  /// How long a run of all cases may take.
  package enum Profile: String, Sendable, Hashable, CaseIterable {
    /// Under a minute.
    case quick
    /// As long as the longest wait, and a minute.
    case full
  }

  /// What is driven by it.
  package let kind: CaseKind
  /// The name, which is that of its file.
  package let name: String
  /// What is provoked, in one sentence.
  let title: String
  /// The clauses that it is meant to exercise: in whichever version has them, or with a standard in front in that alone.
  package let clauses: [String]
  /// The versions of MQTT that it is run in; none where it speaks another protocol.
  package let versions: [MQTTVersion]
  /// What the subject must be able to do.
  package let needs: [CaseAbility]
  /// In which profile it is run; what is in the quick one is in the full one as well.
  let profile: Profile
  /// The most seconds that it may take, 1 to 600.
  package let seconds: Int
  /// The values that it is run with, one run a row; at least one row, which may be empty.
  package let rows: [[JSONMember]]
  /// What is done, in this order.
  package let steps: [CaseStep]

  private static let keys = [
    "name", "title", "clauses", "versions", "needs", "profile", "seconds", "rows", "steps",
  ]

  /// Reads a case.
  /// - Parameters:
  ///   - value: What its file holds.
  ///   - kind: What is driven by it.
  ///   - file: The file, for errors.
  /// - Throws: ``DriverError`` that names the file, the key and what it must be.
  package init(_ value: JSONValue, _ kind: CaseKind, in file: String) throws(DriverError) {
    let fields = try CaseFields(value, "\(file): the case")
    try fields.check(keys: Self.keys)
    self.kind = kind
    name = try fields.filledText("name")
    let part = fields.named("\(file): case \(name)")
    title = try part.filledText("title")
    clauses = try part.texts("clauses")
    guard !clauses.isEmpty else {
      throw part.error("clauses", "names none; name those it exercises")
    }
    versions = kind.speaksMQTT ? try part.versions() : []
    needs = try part.choices("needs", of: kind.abilities)
    profile = try part.choice("profile", of: Profile.allCases) ?? .quick
    seconds = try part.integer("seconds", in: 1...600) ?? Self.usualSeconds
    rows = try part.rows()
    var steps: [CaseStep] = []
    for (index, step) in try part.list("steps").enumerated() {
      steps.append(try CaseStep(step, kind, "\(part.path), step \(index + 1)"))
    }
    self.steps = steps
    guard !steps.isEmpty else { throw part.error("steps", "has none") }
  }

  /// The standards that it is run by, as catalogues name them.
  package var standards: [String] {
    kind.speaksMQTT ? versions.map(\.standard) : ["rfc6455"]
  }

  /// The identifiers of the clauses that it is meant to exercise in a standard.
  package func clauses(of standard: String) -> [String] {
    clauses.compactMap { clause in
      let parts = clause.split(separator: "/", maxSplits: 1)
      guard parts.count == 2 else { return clause }
      return parts[0] == standard ? String(parts[1]) : nil
    }
  }

  /// Which end it can drive; of WebSocket the one that does not do what a step of it does, and both where no step says.
  package var subjects: Set<Peer> {
    guard kind == .webSocket else { return [kind == .broker ? .server : .client] }
    let actions = steps.map(\.action)
    if actions.contains(.connect) { return [.server] }
    return actions.contains(.accept) ? [.client] : [.server, .client]
  }

  /// Long enough for an answer that does not come to be one that was not given.
  private static let usualSeconds = 45
}
