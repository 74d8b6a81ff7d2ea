internal import RepriseCore

extension Finding {
  /// The subject that it is about, in words that another run of the same session has as well: the scenario and its
  /// world, the case that provoked it, the client's identifier without what looks drawn by lot, or the end of the
  /// connection that sent the packet.
  public var subject: String {
    if let scenario { return scenario.subject }
    if let driven { return Self.subject(ofCase: driven) }
    return client.flatMap(Self.subject) ?? role
  }

  /// The subject that a client's identifier makes; nil where it looks drawn by lot as a whole.
  static func subject(ofClient client: String) -> String? {
    let name = RandomName.masked(client)
    return name.contains(where: \.isLetter) ? "client \(name)" : nil
  }

  /// The subject of what a case provoked.
  static func subject(ofCase name: String) -> String { "case \(name)" }

  /// The subjects that every session has.
  static let roles: Set<String> = ["a client", "a server"]

  /// The end of the connection that sent the packet.
  private var role: String {
    JSONValue(parsing: packet)?["from"]?.text == "server" ? "a server" : "a client"
  }

  /// Returns what tells it from other findings, and is the same when the same session is judged again.
  /// - Parameter clause: The clause that it violates.
  /// - Returns: The fingerprint.
  public func fingerprint(of clause: Clause) -> Fingerprint { fingerprint(of: clause.key) }

  func fingerprint(of clause: ClauseKey) -> Fingerprint { Fingerprint(self, of: clause) }
}
