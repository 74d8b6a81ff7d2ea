import DeviceSDK
import RepriseCore

/// The envelope of a recorded request, in whatever form, taken apart into what an application gave.
struct RecordedEnvelope {
  /// The parameters; nil when it has none.
  let params: JSONValue?
  /// The members that stand beside the parameters and that the channel does not write by itself.
  let extra: [JSONMember]

  /// Takes a payload apart; nil when it is no JSON object with an identifier.
  init?(_ payload: [UInt8], clientID: String) {
    guard case .object(let members)? = JSONValue(parsing: payload),
      members.contains(where: { $0.key == "id" && $0.value.identifier != nil })
    else { return nil }
    params = members.last { $0.key == "params" }?.value
    extra = members.filter { Self.isExtra($0, clientID) }
  }

  /// What an application gives so that the channel writes such an envelope.
  var options: JSONValue? {
    extra.isEmpty ? nil : .object([JSONMember("extraParam", .object(extra))])
  }

  private static func isExtra(_ member: JSONMember, _ clientID: String) -> Bool {
    switch member.key {
    case "id", "params", "system": false
    case "version": member.value != "1.0"
    case "request":
      member.value != .object([JSONMember("clientId", .string(clientID))])
        && member.value != .object([])
    default: true
    }
  }
}
