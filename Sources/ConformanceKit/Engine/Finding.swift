public import RepriseCore

/// A place where a clause is violated.
public struct Finding: Sendable, Hashable {
  /// The file that it was found in.
  public var file: String
  /// The step of a scenario; nil for a finding of no scenario.
  public var scenario: ScenarioPlace?
  /// The case that provoked it, with its version and the number of its row; nil where nobody provoked it.
  public internal(set) var driven: String?
  /// The frame that completed the packet, or the line of a recording; for a scenario in a world that is neither,
  /// the number of what the client did and was told.
  ///
  /// Frames of the parts of one capture are counted through all of them, see ``JoinedPart``.
  public var frame: Int
  /// The number of the connection in the file.
  public var connection: Int
  /// When it was captured.
  public var time: Timestamp
  /// What happened, and who is at fault, in one sentence.
  public var message: String
  /// The event as `inspect` prints it: a JSON object in UTF-8.
  public var packet: [UInt8]
  /// What the clause asks for.
  public var expected: String
  /// What was there.
  public var actual: String
  /// The packets that it rests on besides, in their order; those of other connections are among them.
  public var evidence: [Evidence] = []
  /// The steps of the scenario behind this one that went otherwise as well, which mostly follows from it.
  public internal(set) var laterSteps: [Int] = []
  /// What to do next, with commands to type.
  public internal(set) var remedies: [String] = []
  /// The identifier of the connection's client, as its CONNECT names it; nil where there is none, or none was seen.
  public var client: String?
  /// Why it fails no run; nil where it may.
  public internal(set) var acceptance: Acceptance?
  /// The first clause in the catalogue's order that has a finding of the same bytes; nil of that one.
  public internal(set) var sameCauseAs: String?
  /// The number of what caused it, which other clauses may have a finding of as well.
  var cause: Int?
  /// What tells it from other findings of its subject; nil is what its message and ``actual`` say.
  var identity: Identity?

  /// What tells a finding from others.
  enum Identity: Sendable, Hashable {
    /// Texts that are the same in each run.
    case texts([String])
    /// The fingerprint that the report says it has which it was read from.
    case read(Fingerprint)
  }
}

extension Finding {
  /// A packet that a finding rests on.
  public struct Evidence: Sendable, Hashable {
    /// The frame that completed the packet.
    public var frame: Int
    /// The number of its connection in the file.
    public var connection: Int
    /// What it shows.
    public var role: String

    /// Creates an evidence.
    public init(frame: Int, connection: Int, role: String) {
      self.frame = frame
      self.connection = connection
      self.role = role
    }
  }
}

/// A place that the input does not decide a clause for.
public struct UndecidedPlace: Sendable, Hashable {
  /// The file.
  public internal(set) var file: String
  /// The step of a scenario that went otherwise; nil where there is no scenario.
  public var scenario: ScenarioPlace?
  /// The frame that completed the packet, or the line of a recording.
  public let frame: Int
  /// The number of the connection in the file.
  public let connection: Int
  /// When it was captured.
  public let time: Timestamp
  /// Why it is not decided.
  public let reason: String
}

/// A step of a scenario.
public struct ScenarioPlace: Sendable, Hashable, CustomStringConvertible {
  /// The name of the scenario.
  public var name: String
  /// The number of the step, from 1.
  public var step: Int
  /// What the step does.
  public var action: String
  /// The world that the scenario was run in: `script`, `file`, `capture` or `live`.
  public var world: String

  /// The subject that findings of the scenario in its world are about.
  var subject: String { Self.subject(name, in: world) }

  static func subject(_ scenario: String, in world: String) -> String {
    "scenario \(scenario) in \(world)"
  }

  /// The scenario, and the step with what it does.
  public var description: String { "scenario \(name), step \(step), \(action)" }
}

/// What a rule says of a violation; the engine adds where and when.
struct FindingText {
  var message: String
  var expected: String
  /// The value that was seen.
  var actual: String
  /// What tells the cause from others of the same event: two findings that say the same have one.
  var cause: String
  /// The packets that it rests on besides the one that it is about.
  var evidence: [Finding.Evidence]
  /// How long the client has to have sent nothing, in nanoseconds, if the violation rests on that.
  var silence: Int64?

  init(
    _ message: String, expected: String, actual: String, cause: String? = nil,
    evidence: [Finding.Evidence] = [], silence: Int64? = nil
  ) {
    self.silence = silence
    self.evidence = Set(evidence).sorted { ($0.frame, $0.connection) < ($1.frame, $1.connection) }
    self.message = message
    self.expected = expected
    self.actual = actual
    self.cause = cause ?? message
  }

  /// The same, with no text so long that it is not read: names in it can have 64 KiB.
  var shortened: FindingText {
    var result = self
    result.message = Self.shortened(message)
    result.expected = Self.shortened(expected)
    result.actual = Self.shortened(actual)
    result.cause = cause == message ? result.message : Self.shortened(cause)
    return result
  }

  private static let mostCharacters = 1_024

  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > 4 * mostCharacters else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(mostCharacters))) + "…"
  }
}
