/// What a ``Recorder`` records, and for how long.
package struct RecorderPlan: Sendable, Hashable {
  /// How to connect.
  package var options: ConnectOptions
  /// What to subscribe to; nothing where messages have no topics, and all are recorded.
  package var subscriptions: [Subscription]
  /// How long to record, counted from the start; nil is without end.
  package var duration: Duration?
  /// How many messages to record; nil is without end.
  package var messageCount: Int?
  /// How often the recording goes on in another file; nil is never.
  package var fileInterval: Duration?
  /// Whether a connection that is lost is opened again.
  package var reconnects: Bool
  /// How long to wait for the server's answer to a CONNECT or a SUBSCRIBE.
  package var patience: Duration

  /// Creates a plan.
  /// - Parameters:
  ///   - options: How to connect.
  ///   - subscriptions: What to subscribe to.
  ///   - duration: How long to record.
  ///   - messageCount: How many messages to record.
  ///   - fileInterval: How often the recording goes on in another file.
  ///   - reconnects: Whether a connection that is lost is opened again.
  ///   - patience: How long to wait for the server's answer.
  package init(
    options: ConnectOptions, subscriptions: [Subscription], duration: Duration? = nil,
    messageCount: Int? = nil, fileInterval: Duration? = nil, reconnects: Bool = true,
    patience: Duration = .seconds(30)
  ) {
    self.options = options
    self.subscriptions = subscriptions
    self.duration = duration
    self.messageCount = messageCount
    self.fileInterval = fileInterval
    self.reconnects = reconnects
    self.patience = patience
  }
}

/// What a ``Recorder`` tells while it records.
package enum RecorderNotice: Sendable, Hashable {
  /// The server accepted a connection, for the first time or again.
  case connected
  /// Messages without topics are recorded from now on.
  case listening
  /// The server grants the subscriptions; `lowered` are those with a lower QoS than was asked for.
  case subscribed(lowered: [Subscription])
  /// The connection was lost, or could not be opened again; it is tried anew after the delay.
  case lost(ClientEvent.Closed, retryAfter: Duration)
  /// So many messages are recorded.
  case progress(messages: Int)
}

/// Why a ``Recorder`` is done.
package enum RecorderEnd: Sendable, Hashable {
  /// As many messages came as were wanted.
  case count
  /// The time is up.
  case duration
  /// The recording has reached its size.
  case size
  /// The client's world has no more events.
  case world
}

/// Why a ``Recorder`` can't record.
package enum RecorderError: Error, Sendable, Hashable {
  /// There was no connection in the first place.
  case notConnected(ClientEvent.Closed)
  /// The connection was lost, and is not to be opened again.
  case lost(ClientEvent.Closed)
  /// The server does not grant a topic filter.
  case notSubscribed(filter: String)
}
