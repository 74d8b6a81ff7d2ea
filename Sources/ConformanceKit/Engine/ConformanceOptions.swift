public import RepriseCore

/// What a user asks of a conformance run.
public struct ConformanceOptions: Sendable, Hashable {
  /// The standards to judge by; nil is all that there are.
  public var specs: Set<String>?
  /// Identifiers and sections of the clauses to report; none is all.
  public var clauses: [String]
  /// Whether a violated SHOULD fails the run as a violated MUST does.
  public var isStrict: Bool
  /// The connections to report, by the names of their files; nil is all.
  ///
  /// What the others do is taken into account: a message that one of them publishes is what a connection that is
  /// reported gets.
  public var connections: [String: Set<Int>]?
  /// The end of connections whose conduct is judged; nil is that of both.
  ///
  /// Clauses that bind the other end alone are not in the report then, and what the other end does counts neither for
  /// nor against a clause that binds both.
  public var subject: Peer?
  /// The most findings to keep of a clause; the others are counted.
  public var maximumFindings: Int
  /// Whether a finding of each kind is kept, also beyond that number, for a baseline to be compared with.
  public var listsEachKind = false
  /// Whether the files show all that happens at their servers: nobody who is not in them, and no rule of a server, can
  /// have published the same, so that one message shows what it takes two for otherwise; and no proxy stands between,
  /// which goes on for a client that is gone.
  public var hasOwnMessages = false
  /// Whether a driver made the files, whose messages are of them alone and whose server stands still between its steps.
  public var isDriven = false
  /// What findings must not tell.
  public var redaction: RedactionRules
  /// The most memory that is taken for connections that are being judged, in bytes.
  public var memory: Int

  /// Creates options.
  /// - Parameters:
  ///   - specs: The standards to judge by; nil is all that there are.
  ///   - clauses: Identifiers and sections of the clauses to report; none is all.
  ///   - isStrict: Whether a violated SHOULD fails the run.
  ///   - connections: The connections to report, by the names of their files; nil is all.
  ///   - maximumFindings: The most findings to keep of a clause.
  ///   - redaction: What findings must not tell.
  ///   - memory: The most memory that is taken for connections that are being judged, in bytes;
  ///     what is known of those that take most is given up beyond it.
  public init(
    specs: Set<String>? = nil, clauses: [String] = [], isStrict: Bool = false,
    connections: [String: Set<Int>]? = nil, maximumFindings: Int = 100,
    redaction: RedactionRules = RedactionRules(), memory: Int = 64 << 20
  ) {
    self.specs = specs
    self.clauses = clauses
    self.isStrict = isStrict
    self.connections = connections
    self.maximumFindings = max(0, maximumFindings)
    self.redaction = redaction
    self.memory = max(0, memory)
  }
}
