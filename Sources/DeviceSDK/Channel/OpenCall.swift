import RepriseCore

/// A call of the application that is not completed yet.
enum OpenCall {
  /// Completed by an open connection.
  case starting
  /// Completed by a closed connection.
  case stopping
  /// Completed by `published`.
  case publishing
  /// Completed by `subscribed`.
  case subscribing(filter: String)
  /// Completed by `unsubscribed`; not sent while a request depends on the filter.
  case unsubscribing
  /// Completed by the answer to the UNSUBSCRIBE behind its SUBSCRIBE.
  case sweeping
  /// Completed by a reply.
  case invoking(OpenInvocation)
}

/// A request that is not completed yet.
struct OpenInvocation {
  /// Who asked for it.
  enum Purpose {
    /// The application, which gets every reply as it is.
    case application
    /// The application bound an account: some replies are followed by a new try.
    case binding
  }

  /// How far it is.
  enum Phase {
    /// The reply topic is not granted yet.
    case subscribing
    /// The request was sent with an id.
    case waiting(id: String)
    /// The next try comes later.
    case pausing
  }

  let request: ChannelStateMachine.Invocation
  let purpose: Purpose
  let topic: FullTopic
  let replyTopic: String
  var phase = Phase.subscribing
  /// The filter that brings the reply, and must not be unsubscribed from until then.
  var dependsOn: String?
  /// How many tries there were before this one.
  var attempt = 0
}

/// A filter that the cloud has granted.
struct Grant: Sendable {
  /// For whom it is kept; who comes later here counts for more.
  enum Owner: Sendable, Comparable {
    /// Nobody: whoever has asked for it waits no longer.
    case nobody
    /// Requests, for their replies.
    case requests
    /// The application, or the channel for it.
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

/// The requests that wait until their reply topic is granted.
struct ReplySubscription<Request: Sendable>: Sendable {
  /// The SUBSCRIBE that they wait for.
  let action: ClientAction.ID
  var requests: [Request]
}
