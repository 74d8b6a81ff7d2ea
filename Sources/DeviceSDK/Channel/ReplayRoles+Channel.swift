public import RepriseCore

extension ReplayRoles {
  /// What a channel makes anew, and what its envelopes have in one form and not in the other: the version stands
  /// at the top beside the client's identifier, or in an object `system` with a time.
  public static let channel: ReplayRoles = {
    var roles = ReplayRoles.standard
    roles.optionalPaths = ["version", "request", "request.clientId", "system"]
    return roles
  }()
}
