import RepriseCore

/// A filter that the cloud has granted.
struct Grant: Sendable {
  /// For whom it is kept; who comes later here counts for more.
  enum Owner: Sendable, Comparable {
    /// None: what has asked for it waits no longer.
    case nobody
    /// Requests, for their replies.
    case requests
    /// The application, or the channel or gateway for it.
    case application
  }

  let filter: String
  let matcher: TopicFilter?
  var owner: Owner

  init(_ filter: String, for owner: Owner) {
    self.filter = filter
    self.owner = owner
    matcher = TopicFilter(filter)
  }
}
