/// Whose link a topic belongs to.
///
/// A link of the message service is `link/{app}/message/{user}/{session}`, one of a stream channel
/// `link/{app}/stream/{user}/{session}/{channel}`; below them, `up/{verb}` goes to the server and
/// `down/{verb}` to the link. In names `%`, `+`, `#`, `/` and U+0000 are written as `%` and two digits.
struct LinkAddress: Sendable, Hashable {
  /// What links send to servers.
  static let filters = ["link/+/message/+/+/up/+", "link/+/stream/+/+/+/up/+"]

  /// The topic of the link itself.
  let base: String
  let user: LinkUser
  /// The life of the SDK that the link belongs to.
  let session: String
  /// The stream channel; nil for a link of the message service.
  let streamChannel: String?

  /// Reads what a link sent to; nil when it is no topic of a link.
  static func parse(_ topic: String) -> (address: LinkAddress, verb: String)? {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count >= 7, levels[0] == "link", levels[levels.count - 2] == "up" else {
      return nil
    }
    let isStream = levels[2] == "stream"
    guard isStream ? levels.count == 8 : levels[2] == "message" && levels.count == 7 else {
      return nil
    }
    let base = levels.dropLast(2)
    guard let app = LevelName.decode(base[1]), let user = LevelName.decode(base[3]),
      let session = LevelName.decode(base[4]), let channel = base.last.flatMap(LevelName.decode)
    else { return nil }
    let address = LinkAddress(
      base: base.joined(separator: "/"), user: LinkUser(app: app, user: user), session: session,
      streamChannel: isStream ? channel : nil)
    return (address, String(levels[levels.count - 1]))
  }

  func down(_ verb: String) -> String { "\(base)/down/\(verb)" }
}

/// A user of an app.
struct LinkUser: Sendable, Hashable, Comparable {
  let app: String
  let user: String

  static func < (lhs: LinkUser, rhs: LinkUser) -> Bool {
    (lhs.app, lhs.user) < (rhs.app, rhs.user)
  }
}

/// A channel of an app.
struct LinkChannel: Sendable, Hashable, Comparable {
  let app: String
  let isStream: Bool
  let name: String

  /// Where it is told who comes and goes.
  var presenceTopic: String {
    let type = isStream ? "stream" : "message"
    return "link/\(LevelName.encode(app))/channel/\(type)/\(LevelName.encode(name))/presence"
  }

  private var order: (String, Int, String) { (app, isStream ? 1 : 0, name) }

  static func < (lhs: LinkChannel, rhs: LinkChannel) -> Bool { lhs.order < rhs.order }
}

/// How names stand in topics.
enum LevelName {
  static func encode(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      guard "%+#/\0".utf8.contains(byte) else {
        bytes.append(byte)
        continue
      }
      let digits = String(byte, radix: 16, uppercase: true)
      bytes += Array("%\(digits.count < 2 ? "0" : "")\(digits)".utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a name; nil when its bytes are no text.
  static func decode(_ level: Substring) -> String? {
    let parts = level.split(separator: "%", omittingEmptySubsequences: false)
    var bytes = parts.first.map { Array($0.utf8) } ?? []
    for part in parts.dropFirst() {
      guard part.utf8.count >= 2, let byte = UInt8(part.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      bytes += part.dropFirst(2).utf8
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
