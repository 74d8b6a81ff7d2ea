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
  /// The caller that asked for it.
  enum Purpose {
    /// The application, which gets every reply as it is.
    case application
    /// The application bound an account: some replies are followed by a new try.
    case binding
  }

  let request: ChannelStateMachine.Invocation
  let purpose: Purpose
  let topic: FullTopic
  let replyTopic: String
  var phase = RequestPhase.subscribing
  /// The filter that brings the reply, and must not be unsubscribed from until then.
  var dependsOn: String?
  /// How many tries there were before this one.
  var attempt = 0
}
