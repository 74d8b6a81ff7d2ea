import DeviceSDK
import RepriseCore

/// Which of a recorded client's packets were the work of requests.
struct RecordedRequests: Sendable {
  /// When the recorded client subscribed to reply topics.
  let replySubscription: ChannelConfiguration.ReplySubscription
  /// The numbers of the PUBLISHes that were requests.
  let publications: Set<Int>
  /// The SUBSCRIBEs to reply topics that were the beginning of a request, with its PUBLISH.
  private(set) var subscriptions: [Int: Int] = [:]

  init(_ session: RecordedSession, _ topics: ChannelTopics, isFromStart: Bool) {
    var subscribed: Set<Int> = []
    var covered: Set<Int> = []
    var isAccountCovered = false
    Self.walk(session, topics) { number, reply, exact, message in
      let isAccount = topics.isAccount(message.topic)
      let isExact = exact.contains(reply)
      guard isExact || isAccount || session.replyTopics.contains(reply),
        ChannelEnvelope(parsing: message.payload) != nil
      else { return }
      if isExact {
        subscribed.insert(number)
      } else {
        covered.insert(number)
        isAccountCovered = isAccountCovered || isAccount
      }
    }
    // A client that subscribes to its reply topics does so for all requests: the rest was answered without being asked.
    let isAlways = isFromStart && !subscribed.isEmpty && !isAccountCovered
    publications = isAlways ? subscribed : subscribed.union(covered)
    replySubscription = isAlways || covered.isEmpty ? .always : .unlessCovered
    if isAlways { findSubscriptions(session, topics) }
  }

  /// Calls a body with each PUBLISH and the filters that are subscribed to at that moment.
  private static func walk(
    _ session: RecordedSession, _ topics: ChannelTopics,
    _ body: (_ number: Int, _ reply: String, _ exact: Set<String>, Message) -> Void
  ) {
    var exact: Set<String> = []
    for (number, action) in session.actions.enumerated() {
      switch action.kind {
      case .subscribe(let wanted): exact.formUnion(wanted.map(\.filter))
      case .unsubscribe(let filters): exact.subtract(filters)
      case .disconnect: exact = []
      case .publish(let message):
        guard let reply = topics.reply(to: message.topic) else { continue }
        body(number, reply, exact, message)
      default: continue
      }
    }
  }

  // MARK: Subscriptions

  /// Joins each SUBSCRIBE to a reply topic with the request that it was for, where nothing that the application
  /// did stands between the SUBACK and the PUBLISH: requests are sent as soon as they may be.
  private mutating func findSubscriptions(_ session: RecordedSession, _ topics: ChannelTopics) {
    var open: [String: Int] = [:]
    var exact: Set<String> = []
    var sent: Set<Int> = []
    for (number, action) in session.actions.enumerated() {
      switch action.kind {
      case .subscribe(let wanted):
        if wanted.count == 1, let filter = wanted.first?.filter, !exact.contains(filter) {
          open[filter] = number
        }
        exact.formUnion(wanted.map(\.filter))
      case .unsubscribe(let filters): exact.subtract(filters)
      case .disconnect: exact = []
      case .publish(let message):
        guard publications.contains(number), let reply = topics.reply(to: message.topic),
          let subscription = open.removeValue(forKey: reply),
          let granted = session.actions[subscription].answeredAt, granted < action.step,
          Self.areAll(session.actions[..<number], after: granted, in: sent)
        else { continue }
        subscriptions[subscription] = number
        sent.insert(number)
      default: continue
      }
    }
  }

  private static func areAll(
    _ actions: ArraySlice<RecordedSession.Action>, after step: Int, in numbers: Set<Int>
  ) -> Bool {
    for (number, action) in zip(actions.indices, actions).reversed() {
      guard action.step > step else { return true }
      guard numbers.contains(number) else { return false }
    }
    return true
  }
}

extension ChannelTopics {
  /// Whether a full topic is that of binding or unbinding an account.
  func isAccount(_ topic: String) -> Bool { topic == bind.text || topic == unbind.text }

  /// Returns the topic on which a request to a full topic is answered.
  func reply(to topic: String) -> String? {
    (try? replyTopic(for: .full(FullTopic(unchecked: topic))))?.text
  }
}
