public import RepriseCore

/// The JSON object around what a gateway asks for.
///
/// Replies and notices are read by ``ChannelEnvelope``, whose lenience they need: identifiers and codes
/// as numbers or texts, data that is missing.
enum GatewayEnvelope: Sendable, Hashable {
  /// `id`, `version`, `method` and `params`, as in all topics below `thing`; without a method, none.
  case thing(method: String?)
  /// `id` and `params`, as in the topics of sessions.
  case session

  /// Returns the text of a request.
  func request(id: String, params: JSONValue) -> [UInt8] {
    var members = [JSONMember("id", .string(id))]
    if case .thing(let method) = self {
      members.append(JSONMember("version", "1.0"))
      if let method { members.append(JSONMember("method", .string(method))) }
    }
    return JSONValue.object(members + [JSONMember("params", params)]).utf8
  }

  /// Returns the text of an answer to what the cloud asked for.
  static func answer(id: JSONValue, code: Int, message: String?, data: JSONValue) -> [UInt8] {
    var members = [JSONMember("id", id), JSONMember("code", .number(String(code)))]
    if let message { members.append(JSONMember("message", .string(message))) }
    return JSONValue.object(members + [JSONMember("data", data)]).utf8
  }

  /// The method that belongs to a topic: `thing.event.property.post`; nil for one not below `thing`.
  static func method(of topic: String) -> String? {
    guard case .thing(let path)? = GatewayTopic(topic)?.kind else { return nil }
    return "thing." + path.split(separator: "/").joined(separator: ".")
  }
}

/// What the cloud answered to a request, with code 200.
public struct GatewayReply: Sendable, Hashable {
  /// The identifier of the request.
  public let id: String
  /// The code; 200.
  public let code: Int
  /// The message.
  public let message: String
  /// What the reply brings; nil when it brings nothing, or an empty text.
  public let data: JSONValue?

  init(_ envelope: ChannelEnvelope, code: Int) {
    id = envelope.id
    self.code = code
    message = envelope.message ?? ""
    data = envelope.data == "" || envelope.data == .null ? nil : envelope.data
  }
}
