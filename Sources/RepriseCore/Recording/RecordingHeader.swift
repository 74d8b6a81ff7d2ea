/// The first line of a recording: what it is, when it was made, and from what.
public struct RecordingHeader: Sendable, Hashable {
  /// The version of the format that this program writes, and the only one that it reads.
  public static let version = 1

  /// When the recording was made; nil when that is not stated.
  public var created: Timestamp?
  /// What it was made from.
  public var source: Source
  /// The names of the fields that were hidden when it was made.
  public var redacted: [String]
  /// The keys that this program does not know; they are written back as they were read.
  public var unknown: [JSONMember]

  /// Creates a header.
  public init(
    created: Timestamp?, source: Source, redacted: [String] = [], unknown: [JSONMember] = []
  ) {
    self.created = created
    self.source = source
    self.redacted = redacted
    self.unknown = unknown
  }

  /// What a recording was made from.
  public struct Source: Sendable, Hashable {
    /// The kind of source: `client`, `interface`, `proxy`, `capture`, or one of a later program.
    public var kind: String
    /// What else is known of it, such as `url` or `file`.
    public var details: [JSONMember]

    /// Creates a source.
    public init(kind: String, details: [JSONMember] = []) {
      self.kind = kind
      self.details = details
    }

    /// A capture file.
    public static func capture(_ name: String) -> Source {
      Source(kind: "capture", details: [JSONMember("file", .string(name))])
    }
  }

  /// The header of a copy of the recording.
  /// - Parameter redaction: What the copy hides; with it go the keys that nobody knows.
  /// - Returns: What the recording is of, with what is hidden in either.
  public func copied(hiding redaction: RedactionRules) -> RecordingHeader {
    var copy = self
    copy.redacted += redaction.ruleNames.filter { !redacted.contains($0) }
    guard !redaction.hidesNothing else { return copy }
    copy.unknown = []
    copy.source.details = source.details.filter { Self.knownDetails.contains($0.key) }
    return copy
  }

  private static let knownDetails: Set<String> = ["url", "file", "interface"]

  /// Appends the header as one line of JSON, without a line end.
  public func append(to bytes: inout [UInt8]) {
    var members = [JSONMember("reprise", .number(String(Self.version)))]
    if let created { members.append(JSONMember("created", .string(created.description))) }
    let kind = JSONMember("kind", .string(source.kind))
    members.append(JSONMember("source", .object([kind] + source.details)))
    members.append(JSONMember("redacted", .array(redacted.map(JSONValue.string))))
    JSONValue.object(members + unknown).append(to: &bytes)
  }
}

extension RecordingHeader {
  /// Reads a header from the fields of a recording's first line.
  init(_ fields: RecordingFields) throws(RecordingError) {
    guard let version = fields.value("reprise") else {
      throw RecordingError(
        .notRecording, "the first line has no key \"reprise\"", line: fields.line,
        remedy: "name a recording that reprise made, or a capture")
    }
    guard version.integer == Self.version else {
      throw RecordingError(
        .unknownVersion, "the recording is not of format version \(Self.version)",
        line: fields.line, column: fields.column(of: "reprise"),
        remedy: "read it with the newer reprise that made it")
    }
    var created: Timestamp?
    if fields.value("created") != nil { created = try fields.time("created") }
    let source = try fields.optionalObject("source")
    self.init(
      created: created,
      source: Source(
        kind: try source?.string("kind") ?? "unknown",
        details: source?.members.filter { $0.key != "kind" } ?? []),
      redacted: try fields.strings("redacted"),
      unknown: fields.members.filter { !Self.keys.contains($0.key) })
  }

  private static let keys: Set<String> = ["reprise", "created", "source", "redacted"]
}
