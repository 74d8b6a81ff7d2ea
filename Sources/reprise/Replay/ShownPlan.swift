import DeviceSDK
import RepriseCore
import SDKReplay

/// A plan whose replay can be shown: how what is seen of its system is written.
protocol ShownPlan: ReplayPlan {
  /// What the system is called: `channel`.
  static var system: String { get }
  /// The names of a call's members in JSON.
  static var callKeys: (subject: String, details: String) { get }

  /// Returns what a completed call brought; nil when that is nothing.
  static func answer(in value: Machine.Value) -> ShownAnswer?
  /// Returns an error as members of JSON.
  static func members(of error: Machine.Failure) -> [JSONMember]
  /// Returns what the application is told as a line for people.
  static func line(of effect: Machine.Effect, in text: ObservationText) -> ShownLine
  /// Returns what the application is told as members of JSON, `type` first.
  static func members(of effect: Machine.Effect, in json: ObservationJSON) -> [JSONMember]
  /// Returns how a session ended as members of JSON.
  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember]
  /// Returns how a session ended for people: the state, and what was counted if anything was.
  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?)
}

/// What a completed call brought.
struct ShownAnswer {
  var code: Int?
  var data: JSONValue?
}

/// One line for people, behind its place.
struct ShownLine {
  var direction = "← "
  let name: String
  let style: ObservationText.Style
  var fields: [String?] = []
  var fault: String?
}

extension ReplayStatistics {
  /// What was counted, for people.
  var summary: String {
    "messages \(messages), late replies \(lateReplies), repeated \(duplicateReplies), "
      + "unknown \(unknownReplies), lost connections \(lostConnections)"
  }

  /// What was counted, for programs.
  var members: [JSONMember] {
    [
      JSONMember("messages", .number("\(messages)")),
      JSONMember("lateReplies", .number("\(lateReplies)")),
      JSONMember("duplicateReplies", .number("\(duplicateReplies)")),
      JSONMember("unknownReplies", .number("\(unknownReplies)")),
      JSONMember("lostConnections", .number("\(lostConnections)")),
    ]
  }
}

/// What systems with topics count.
protocol ReplayStatistics {
  var messages: UInt64 { get }
  var lateReplies: UInt64 { get }
  var duplicateReplies: UInt64 { get }
  var unknownReplies: UInt64 { get }
  var lostConnections: UInt64 { get }
}

extension ChannelStatistics: ReplayStatistics {}
extension GatewayStatistics: ReplayStatistics {}
