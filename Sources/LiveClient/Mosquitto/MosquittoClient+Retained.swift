public import RepriseCore

extension MosquittoClient {
  /// Clears the retained messages of every topic that a filter matches, over a connection of its
  /// own.
  ///
  /// MQTT can't clear by filter: the messages are collected first, and each topic gets an empty
  /// retained message. Since a server may leave out what it has too much of, that is repeated until
  /// none is left. To clear one topic, publish an empty retained message to it.
  /// - Parameters:
  ///   - filter: The topic filter.
  ///   - options: How to open the connection; its session starts and ends with it, and it leaves no will.
  ///   - seconds: How long it may take.
  /// - Returns: The topics that were cleared.
  /// - Throws: `DataClientError` when the broker does not play along, or not in time;
  ///   `DataClientError.Code.rejected` when it keeps what it should clear.
  public func clearRetained(
    matching filter: String, connecting options: ConnectOptions = ConnectOptions(),
    within seconds: UInt16 = 30
  ) async throws -> Set<String> {
    let helper = try MosquittoClient(sameBrokerAs: self)
    let deadline = Timestamp(nanoseconds: helper.now.nanoseconds &+ Int64(seconds) * 1_000_000_000)
    var options = options
    options.cleanStart = true
    options.will = nil
    var sweep = RetainedSweep(client: helper, filter: filter, deadline: deadline)
    return try await sweep.run(options)
  }
}

/// One run of ``MosquittoClient/clearRetained(matching:connecting:within:)``.
private struct RetainedSweep {
  let client: MosquittoClient
  let filter: String
  let deadline: Timestamp
  private var lastID: UInt32 = 0

  /// How often the same topics may come back before nobody hopes any more.
  private static let patience = 3

  init(client: MosquittoClient, filter: String, deadline: Timestamp) {
    self.client = client
    self.filter = filter
    self.deadline = deadline
  }

  mutating func run(_ options: ConnectOptions) async throws -> Set<String> {
    _ = try await perform(.connect(options))
    guard case .connected = try await event() else {
      throw DataClientError(.transport, "the server does not keep to the protocol")
    }
    var cleared: Set<String> = []
    var returns = 0
    while case let topics = try await collect(), !topics.isEmpty {
      returns = topics.isSubset(of: cleared) ? returns + 1 : 0
      if returns == Self.patience, let topic = topics.min() { throw Self.kept(topic) }
      for topic in topics {
        let message = Message(topic: topic, payload: [], qos: .atLeastOnce, isRetained: true)
        let id = try await perform(.publish(message))
        while try await event() != .published(id) {}
      }
      cleared.formUnion(topics)
    }
    _ = try await perform(.disconnect)
    // Letting a client go cuts its connection. All is cleared, so that the end comes late is no error.
    while true {
      switch try await client.next(before: deadline) {
      case .closed, .deadline: return cleared
      default: continue
      }
    }
  }

  /// A server of MQTT 3.1.1 can't refuse to clear a message; it can only go on keeping it.
  private static func kept(_ topic: String) -> DataClientError {
    DataClientError(
      .rejected,
      "the retained message of \(topic) comes back whenever it is cleared; have the server's access "
        + "list allow to write there, or stop its sender")
  }

  /// The topics with a retained message that the server tells of before it answers an UNSUBSCRIBE.
  private mutating func collect() async throws -> Set<String> {
    let subscription = try await perform(.subscribe([Subscription(filter, qos: .atMostOnce)]))
    let end = try await perform(.unsubscribe([filter]))
    var topics: Set<String> = []
    while true {
      switch try await event() {
      case .message(let message) where message.isRetained && !message.payload.isEmpty:
        topics.insert(message.topic)
      case .subscribed(subscription, [nil]):
        throw DataClientError(.transport, "the server does not let us subscribe to \(filter)")
      case .unsubscribed(end): return topics
      default: continue
      }
    }
  }

  private mutating func perform(_ kind: ClientAction.Kind) async throws -> ClientAction.ID {
    lastID += 1
    let id = ClientAction.ID(rawValue: lastID)
    try await client.perform(ClientAction(id, kind))
    return id
  }

  private func event() async throws -> ClientEvent {
    switch try await client.next(before: deadline) {
    case .deadline:
      throw DataClientError(.transport, "the retained messages could not be cleared in time")
    case .closed(let reason): throw DataClientError(.transport, "\(reason)")
    case .failed(_, let failure):
      throw DataClientError(.rejected, "a retained message could not be cleared: \(failure)")
    case let event: return event
    }
  }
}
