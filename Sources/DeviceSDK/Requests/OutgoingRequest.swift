package import RepriseCore

/// What is asked for, ready to be sent.
package struct OutgoingRequest: Sendable {
  /// What it says.
  package internal(set) var content: RequestContent
  /// What makes the answer's content of what came.
  var parser: RequestParser
  var timeout: Duration
  /// How often it is sent again when its connection is lost.
  var resendCount: Int
  /// Names the request to whoever wants to take it back.
  var ticket: UInt64
  /// Whether it is the login that others wait for.
  var isLogin = false

  /// What is wrong with it, for people; nil when it can be sent.
  var mistake: String? {
    guard case .object = content.parameters else {
      return "the parameters of \(content.service) are no object"
    }
    return resendCount < 0 ? "the resendCount of \(content.service) is negative" : nil
  }

  /// The request as it goes over HTTP.
  var message: RequestMessage {
    var parameters: [String: JSONValue] = [:]
    if case .object(let members) = content.parameters {
      for member in members { parameters[member.key] = member.value.sortingKeys }
    }
    return RequestMessage(
      path: content.service, method: content.method.rawValue, parameters: parameters)
  }
}

extension OutgoingRequest {
  /// Takes from a target what it says, and from a configuration what it does not.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - configuration: How requests are sent.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again; nil takes the target's count, or the configuration's.
  ///   - ticket: What takes the request back; another one for every request of a connection.
  ///   - isLogin: Whether it is the login that others wait for.
  package init(
    _ target: any RequestTarget, _ configuration: RequestConfiguration,
    timeout: Duration? = nil, resendCount: Int? = nil, ticket: UInt64, isLogin: Bool = false
  ) {
    self.init(
      content: RequestContent(
        product: target.product ?? configuration.product, service: target.service,
        method: target.method, parameters: target.parameters),
      parser: target.parser,
      timeout: timeout ?? target.timeout ?? configuration.timeout,
      resendCount: resendCount ?? target.resendCount ?? configuration.resendCount,
      ticket: ticket, isLogin: isLogin)
  }
}

extension JSONValue {
  /// The same value with the keys of all objects in order, so that equal parameters are equal texts.
  package var sortingKeys: JSONValue {
    switch self {
    case .object(let members):
      .object(
        members.map { JSONMember($0.key, $0.value.sortingKeys) }.sorted { $0.key < $1.key })
    case .array(let values): .array(values.map(\.sortingKeys))
    case .null, .bool, .number, .string: self
    }
  }
}
