public import RepriseCore

extension ReplayRoles {
  /// Returns what a connection for requests makes anew: the number of each request, under the key of its envelope.
  /// - Parameter envelope: What the parts of messages are called: `format.envelope` of a ``DeviceSDK/JSONRequestFormat``.
  /// - Returns: The roles.
  public static func requests(_ envelope: RequestEnvelope = RequestEnvelope()) -> ReplayRoles {
    var roles = ReplayRoles.standard
    roles.paths[envelope.id] = "id"
    return roles
  }
}
