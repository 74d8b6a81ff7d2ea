package import RepriseCore

/// What counts when two sessions are compared.
package struct DiffOptions: Sendable {
  /// What is left out of a comparison, unless it is wanted: it is made anew in each run of a program.
  package enum Detail: String, Sendable, CaseIterable {
    /// When things happened, from the beginning of their connection on.
    case times
    /// PINGREQ and PINGRESP, and the pings of WebSocket.
    case pings
    /// Packet identifiers, client identifiers, topic aliases and the keys of WebSocket's handshake.
    case ids
    /// Packets that are sent again, and the flag that says so.
    case repeats
  }

  /// What counts besides the meaning of packets.
  package var details: Set<Detail>
  /// Whether two things that only changed places are no difference.
  package var ignoresOrder: Bool
  /// Names of members of JSON, of headers and of user properties that don't count, in lower case.
  package private(set) var ignoredKeys: Set<String>
  /// What is not told, and so is equal to everything.
  package private(set) var hidden: RedactionRules

  /// Creates options.
  /// - Parameters:
  ///   - details: What counts besides the meaning of packets.
  ///   - ignored: What does not count: payloads by their topics, user names, correlation data, and what has a name.
  ///   - ignoresOrder: Whether two things that only changed places are no difference.
  package init(
    details: Set<Detail> = [], ignoring ignored: RedactionRules = RedactionRules(),
    ignoresOrder: Bool = false
  ) {
    self.details = details
    self.ignoresOrder = ignoresOrder
    ignoredKeys = Set(ignored.keys.map { $0.lowercased() })
    hidden = ignored
    // What has an ignored name is left out, as it may stand on one side alone.
    hidden.keys = []
  }
}
