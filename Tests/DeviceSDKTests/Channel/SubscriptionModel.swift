import RepriseCore

@testable import DeviceSDK

/// What an application has subscribed to, by what was sent for it in which order and by how each of that was answered:
/// a SUBSCRIBE that was granted to somebody who waited for it, and no UNSUBSCRIBE behind it that was not refused.
struct SubscriptionModel {
  private enum Step {
    /// SUBSCRIBE for a call of the application, or for nobody: one of the channel's own for everything.
    case subscribe(CallID?)
    /// SUBSCRIBE was granted, and its caller was told.
    case subscribed
    /// UNSUBSCRIBE, answered or not.
    case unsubscribe
    /// A call was told that it is unsubscribed, without UNSUBSCRIBE.
    case givenUp
  }

  private struct Entry {
    let filter: String
    let action: ClientAction.ID?
    var step: Step
  }

  /// What there was when the connection was opened.
  private var former: Set<String> = []
  private var entries: [Entry] = []
  /// The filters that the application has given up; the channel does not ask for them by itself any more.
  private var givenUp: Set<String> = []
  /// What does not hold of what was sent.
  private(set) var problems: [String] = []
  /// The filters that are to be restored, by the SUBSCRIBE that asks for them.
  private var restoring: (action: ClientAction.ID, filters: [String])?

  /// What the application has, or will have again on the next connection.
  var wanted: Set<String> {
    entries.reduce(into: former) { wanted, entry in
      switch entry.step {
      case .subscribe: break
      case .subscribed: wanted.insert(entry.filter)
      case .unsubscribe, .givenUp: wanted.remove(entry.filter)
      }
    }
  }

  mutating func noteSubscribe(_ filter: String, _ action: ClientAction.ID, for call: CallID?) {
    if call == nil, givenUp.contains(filter) {
      problems.append("\(filter) is asked for, which the application has given up")
    }
    entries.append(Entry(filter: filter, action: action, step: .subscribe(call)))
  }

  /// UNSUBSCRIBE was sent for a call.
  mutating func noteUnsubscribe(_ filter: String, _ action: ClientAction.ID) {
    givenUp.insert(filter)
    entries.append(Entry(filter: filter, action: action, step: .unsubscribe))
  }

  /// A call was told that it is unsubscribed, and nothing was sent.
  mutating func noteGivenUp(_ filter: String) {
    givenUp.insert(filter)
    entries.append(Entry(filter: filter, action: nil, step: .givenUp))
  }

  mutating func noteRestoring(_ filters: [String], _ action: ClientAction.ID) {
    restoring = (action, filters)
  }

  /// A SUBSCRIBE was answered.
  /// - Parameters:
  ///   - action: The SUBSCRIBE.
  ///   - granted: What SUBACK says of each of its filters.
  ///   - open: The calls that somebody waits for.
  /// - Returns: How it came out, for counting.
  mutating func noteAnswer(
    to action: ClientAction.ID, _ granted: [QoS?], open: Set<CallID>
  ) -> String? {
    if let restoring, restoring.action == action {
      self.restoring = nil
      let lost = zip(restoring.filters, granted).filter { $1 == nil }.map(\.0)
      former.subtract(lost)
      return lost.isEmpty ? nil : "unrestored"
    }
    guard let index = entries.firstIndex(where: { $0.action == action }),
      case .subscribe(let call) = entries[index].step
    else { return nil }
    let isAwaited = call.map { open.contains($0) } ?? true
    guard granted.first.flatMap({ $0 }) != nil else {
      entries.remove(at: index)
      return nil
    }
    guard isAwaited else {
      entries.remove(at: index)
      return "granted to nobody"
    }
    entries[index].step = .subscribed
    return nil
  }

  /// A SUBSCRIBE or an UNSUBSCRIBE was refused, or not handed over.
  mutating func noteFailure(of action: ClientAction.ID) {
    entries.removeAll { $0.action == action }
  }

  /// Nothing that was sent is answered any more.
  mutating func noteClosed() {
    former = wanted
    entries = []
    restoring = nil
  }
}
