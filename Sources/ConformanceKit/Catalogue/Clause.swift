internal import RepriseCore

/// One requirement of a standard, as the catalogue has it.
public struct Clause: Sendable, Hashable {
  /// The standard's own identifier, such as `MQTT-3.8.3-3`.
  public let id: String
  /// The standard, such as `mqtt-3.1.1`.
  public let spec: String
  /// The section of the standard that states it.
  public let section: String
  /// How strongly the standard asks for it.
  public let level: Level
  /// The end that has to keep it, or both ends.
  public let actor: Actor
  /// Whether and how this suite judges it.
  public let status: Status
  /// What it says, in our own words.
  public let summary: String
  /// What it takes to see whether it is kept.
  public let observable: Observability
  /// The state that a check needs.
  public let scope: Scope
  /// Whether ordinary traffic is enough to judge it: `direct`, `reactive` or `no`.
  public let passive: String
  /// How it is checked, if it is.
  public let check: String?
  /// When a capture does not decide it, if it is checked.
  public let inconclusive: String?
  /// A violation, in one sentence; what passes, or would be one, where nothing fails by it.
  public let example: String?
  /// Why nothing fails by it, if it is checked and nothing ever does.
  public let neverFails: String?
  /// The clauses that the same detector judges.
  public let aliases: [String]?
  /// What else is to be known about it.
  public let note: String?
  /// The edition that it was taken from.
  public let source: String
  /// How the standard prints the identifier, where it differs.
  public let printedAs: String?

  /// How strongly a standard asks for something.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    /// Without it nothing conforms.
    case must = "MUST"
    /// There may be reasons not to.
    case should = "SHOULD"
    /// It is allowed; who does it does it as stated.
    case may = "MAY"
  }

  /// The end that has to keep a clause, or both ends.
  public enum Actor: String, Sendable, Hashable, CaseIterable {
    /// The one who opens connections.
    case client
    /// The one who listens.
    case server
    /// Sender and receiver alike.
    case both

    /// Whether an end of a connection has to keep it; each does where either is asked for.
    func binds(_ peer: Peer?) -> Bool {
      switch self {
      case .both: true
      case .client: peer != .server
      case .server: peer != .client
      }
    }
  }

  /// Whether and how a clause is judged.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// A rule judges it from what was on the wire.
    case checked
    /// A scenario provokes it and judges what comes of it.
    case driven
    /// A unit test of the subject has it.
    case tested
    /// What was on the wire would tell, but there is no rule yet.
    case planned
    /// A driver has to provoke it; a rule judges it where a capture happens to hold the provocation.
    case reactive
    /// A driver has to provoke it.
    case active
    /// Nothing from outside can tell.
    case unobservable
  }

  /// What it takes to see whether a clause is kept.
  public enum Observability: String, Sendable, Hashable, CaseIterable {
    /// Ordinary traffic.
    case trace
    /// A driver that provokes it.
    case active
    /// Nothing from outside.
    case none
  }

  /// The state that a check needs, from cheap to dear.
  public enum Scope: String, Sendable, Hashable, CaseIterable {
    /// One packet.
    case frame
    /// One connection.
    case connection
    /// All connections of one client identifier.
    case session
    /// All clients.
    case broker
    /// None: it can't be checked.
    case none
  }

  /// Reads an entry of a standard's catalogue.
  /// - Parameters:
  ///   - entry: The entry.
  ///   - spec: The standard.
  /// - Throws: ``ConformanceError`` for a key that is missing or has a value that there is not.
  init(_ entry: JSONValue, of spec: String) throws(ConformanceError) {
    var fields = ClauseFields(entry, of: spec)
    id = try fields.text("id")
    self.spec = spec
    section = try fields.text("section")
    level = try fields.choice("level")
    actor = try fields.choice("actor")
    status = try fields.choice("status")
    summary = try fields.text("summary")
    observable = try fields.choice("observable")
    scope = try fields.choice("scope")
    passive = try fields.text("passive")
    check = fields.optional("check")?.text
    inconclusive = fields.optional("inconclusive")?.text
    example = fields.optional("example")?.text
    neverFails = fields.optional("never_fails")?.text
    aliases = fields.optional("aliases")?.elements?.compactMap(\.text)
    note = fields.optional("note")?.text
    source = try fields.text("source")
    printedAs = fields.optional("printed_as")?.text
  }

  /// Creates a clause of the SDK, which its client keeps.
  init(
    sdk id: String, section: String, level: Level, summary: String, status: Status, check: String,
    source: String
  ) {
    self.id = id
    spec = "sdk"
    self.section = section
    self.level = level
    actor = .client
    self.status = status
    self.summary = summary
    observable = .active
    scope = .session
    passive = "no"
    self.check = check
    (inconclusive, example, neverFails, aliases) = (nil, nil, nil, nil)
    (note, printedAs) = (nil, nil)
    self.source = source
  }
}

/// The keys of a catalogue's entry, which mostly are asked for in the order in which they stand.
private struct ClauseFields {
  private let members: [JSONMember]
  private let spec: String
  /// Where the next key is looked for first.
  private var place = 0

  init(_ entry: JSONValue, of spec: String) {
    if case .object(let members) = entry { self.members = members } else { members = [] }
    self.spec = spec
  }

  mutating func optional(_ key: String) -> JSONValue? {
    for step in members.indices {
      let index = (place + step) % members.count
      guard members[index].key == key else { continue }
      place = index + 1
      return members[index].value
    }
    return nil
  }

  mutating func text(_ key: String) throws(ConformanceError) -> String {
    guard let text = optional(key)?.text else { throw error("has no \(key)") }
    return text
  }

  mutating func choice<Choice: RawRepresentable<String>>(
    _ key: String
  ) throws(ConformanceError) -> Choice {
    let name = try text(key)
    guard let choice = Choice(rawValue: name) else { throw error("has no such \(key): \(name)") }
    return choice
  }

  private mutating func error(_ message: String) -> ConformanceError {
    let id = optional("id")?.text ?? "without an identifier"
    return ConformanceError(.badCatalogue, "the clause \(id) of \(spec) \(message)")
  }
}
