/// Which values an application makes anew in every run, and so differ from the recorded ones.
///
/// A value is recognised by its **role**: the key of a JSON member, a path, or a level of a topic. When
/// an action has another value than the recorded one in such a place, the two are bound to each other,
/// and the recorded answer reaches the user with the value that the user sent: the reply to the
/// recorded id 17 carries the id 3.
///
/// Such a value itself is not compared, so that a wrong one goes unnoticed where the application should
/// have repeated what the server sent; ``ReplayMatch/strict`` compares all of them.
public struct ReplayRoles: Sendable, Hashable {
  /// The role of each JSON key, wherever it stands; keys in lower case.
  public var keys: [String: String]
  /// The role of each place in a JSON payload, such as `params.session`.
  public var paths: [String: String]
  /// Topic filters with a role in braces in place of a level: `rpc/+/response/{id}`.
  ///
  /// They are for topics, for filters, and for client identifiers that are written as topics.
  public var topics: [String]
  /// The fields of a CONNECT that are made anew.
  public var connectFields: Set<ConnectField>
  /// The places in a JSON payload that only one of both sides may have, such as `request.clientId`.
  ///
  /// They are for envelopes that mean the same in several forms. Where both sides have such a member it
  /// is compared as any other.
  public var optionalPaths: Set<String>

  /// Creates roles.
  /// - Parameters:
  ///   - keys: The role of each JSON key.
  ///   - paths: The role of each place in a JSON payload.
  ///   - topics: Topic filters with a role in braces in place of a level.
  ///   - connectFields: The fields of a CONNECT that are made anew.
  ///   - optionalPaths: The places in a JSON payload that only one of both sides may have.
  public init(
    keys: [String: String] = [:], paths: [String: String] = [:], topics: [String] = [],
    connectFields: Set<ConnectField> = [], optionalPaths: Set<String> = []
  ) {
    self.keys = keys
    self.paths = paths
    self.topics = topics
    self.connectFields = connectFields
    self.optionalPaths = optionalPaths
  }

  /// The fields of a CONNECT that an application can make anew.
  public enum ConnectField: String, Sendable, Hashable, CaseIterable {
    /// The client identifier.
    case clientID
    /// The user name.
    case username
    /// The password, often a signature of the other two.
    case password
  }

  /// No roles: every value has to be the recorded one.
  public static let none = ReplayRoles()

  /// The names that identifiers, times and signatures commonly have, and the session that a link makes by chance.
  public static let standard = ReplayRoles(
    keys: [
      "id": "id", "msgid": "id", "messageid": "id", "requestid": "id", "request_id": "id",
      "reqid": "id", "correlationid": "id", "clienttoken": "id", "uniqueid": "id",
      "time": "time", "timestamp": "time", "ts": "time", "sendtime": "time",
      "sign": "signature", "signature": "signature", "nonce": "nonce",
    ],
    topics: ["link/+/message/+/{session}/#", "link/+/stream/+/{session}/#"],
    connectFields: [.password])

  /// The role of a member of a JSON payload.
  func role(key: String, path: String) -> String? {
    if let role = paths[path] { return role }
    return keys[key] ?? keys[key.lowercased()]
  }

  /// The role of what tells requests from each other, which an answer repeats.
  static let identifier = "id"

  /// The identifiers in a message, by which an answer is known.
  /// - Parameter payload: What the message says; anything but an object or an array of JSON has none.
  /// - Returns: The identifiers.
  package func identifiers(in payload: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    if let json = JSONValue(container: payload) { collect(json, path: "", into: &found) }
    return found
  }

  private func collect(_ value: JSONValue, path: String, into found: inout Set<String>) {
    switch value {
    case .array(let elements):
      for element in elements { collect(element, path: path, into: &found) }
    case .object(let members):
      for member in members {
        let path = path.isEmpty ? member.key : "\(path).\(member.key)"
        if role(key: member.key, path: path) == Self.identifier,
          let text = member.value.scalarText
        {
          found.insert(text)
        } else {
          collect(member.value, path: path, into: &found)
        }
      }
    case .null, .bool, .number, .string: return
    }
  }

  /// Whether levels of a topic can have roles, by how it begins.
  func canHaveRoles(inTopic topic: String) -> Bool {
    topics.contains { pattern in
      var rest = topic.utf8.makeIterator()
      for byte in pattern.utf8 {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "{"), UInt8(ascii: "#"): return true
        default: if rest.next() != byte { return false }
        }
      }
      return rest.next() == nil
    }
  }

  /// The roles of the levels of a topic or filter, by the number of the level from 0.
  func roles(inTopic levels: [Substring]) -> [Int: String] {
    for pattern in topics {
      let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
      if let roles = Self.roles(of: levels, by: parts) { return roles }
    }
    return [:]
  }

  private static func roles(of levels: [Substring], by parts: [Substring]) -> [Int: String]? {
    var roles: [Int: String] = [:]
    for (index, part) in parts.enumerated() {
      if part == "#" { return roles }
      guard index < levels.count else { return nil }
      if part.hasPrefix("{"), part.hasSuffix("}"), part.count > 2 {
        roles[index] = String(part.dropFirst().dropLast())
      } else if part != "+", part != levels[index] {
        return nil
      }
    }
    return parts.count == levels.count ? roles : nil
  }
}
