public import RepriseCore

/// The JSON object around a reply, and that around the parameters of a request.
package struct ChannelEnvelope: Sendable, Hashable {
  /// The identifier, decimal digits.
  package var id: String
  /// The code of a reply; 200 is success.
  package var code: Int?
  /// The message of a reply.
  package var message: String?
  /// What a reply brings.
  package var data: JSONValue?

  /// Reads an envelope; nil when the text is no JSON object with an identifier.
  /// - Parameter payload: The payload of a message.
  package init?(parsing payload: [UInt8]) {
    guard let object = JSONValue(parsing: payload), let id = object["id"]?.identifier else {
      return nil
    }
    self.id = id
    code = object["code"]?.lenientInteger
    message = object["message"]?.text ?? object["msg"]?.text ?? object["localizedMsg"]?.text
    data = object["data"]
  }

  /// Returns the text of a request.
  /// - Parameters:
  ///   - id: The identifier.
  ///   - clientID: The client's identifier.
  ///   - params: The parameters.
  ///   - options: Its object `extraParam` has members that stand beside the parameters.
  /// - Returns: The text in UTF-8.
  package static func request(
    id: String, clientID: String, params: JSONValue, options: JSONValue? = nil
  ) -> [UInt8] {
    var members: [JSONMember] = [
      JSONMember("id", .string(id)), JSONMember("version", .string("1.0")),
      JSONMember("request", .object([JSONMember("clientId", .string(clientID))])),
      JSONMember("params", params),
    ]
    if case .object(let extra) = options?["extraParam"] {
      // The reply is found by its id, and the parameters are the caller's: neither is replaced.
      for member in extra where member.key != "id" && member.key != "params" {
        members.removeAll { $0.key == member.key }
        members.append(member)
      }
    }
    return JSONValue.object(members).utf8
  }
}

/// What the cloud answered to a request, with code 200.
public struct ChannelReply: Sendable, Hashable {
  /// The identifier of the request.
  public var id: String
  /// The code; 200.
  public var code: Int
  /// The message.
  public var message: String
  /// What the reply brings, if it brings anything.
  public var data: JSONValue?
  /// The whole reply as it came.
  public var payload: [UInt8]
}
