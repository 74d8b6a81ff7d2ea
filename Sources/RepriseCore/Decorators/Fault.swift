/// One thing that goes wrong, and when.
public struct Fault: Sendable, Hashable {
  /// When it goes wrong.
  public var trigger: Trigger
  /// What goes wrong.
  public var effect: Effect

  /// Creates a fault.
  public init(_ effect: Effect, _ trigger: Trigger) {
    self.effect = effect
    self.trigger = trigger
  }

  /// The occasions of faults.
  public enum Trigger: Sendable, Hashable {
    /// Once, at the n-th occurrence, from 1.
    case at(Int, Kind)
    /// At each n-th occurrence.
    case every(Int, Kind)
    /// At each occurrence with a probability, drawn from the injector's seed.
    case chance(Double, Kind)

    /// What is counted.
    var kind: Kind {
      switch self {
      case .at(_, let kind), .every(_, let kind), .chance(_, let kind): kind
      }
    }
  }

  /// What can be counted: the actions and events of the port.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The user publishes.
    case publish
    /// The user subscribes.
    case subscribe
    /// The user sends a request.
    case request
    /// A connection was opened.
    case connected
    /// A SUBSCRIBE was answered.
    case subscribed
    /// A message of the user is where it should be.
    case published
    /// A message came.
    case message
    /// A request was answered.
    case response
    /// A message, a request or an UNSUBSCRIBE came to nothing.
    case failed
    /// The user sends a text or binary message.
    case send
    /// A text or binary message came.
    case frame

    /// Whether the user does it.
    var isAction: Bool {
      switch self {
      case .publish, .subscribe, .request, .send: true
      case .connected, .subscribed, .published, .message, .response, .failed, .frame: false
      }
    }
  }

  /// The ways to go wrong.
  public enum Effect: Sendable, Hashable {
    /// The event, and all behind it, comes later; what comes meanwhile is kept, however much it is.
    case delay(Duration)
    /// The action never goes out, and this comes of it; for requests and messages above QoS 0.
    case fail(ActionFailure)
    /// The event never comes; a message of QoS 0, or without a topic, never goes out.
    case drop
    /// The event comes twice; for messages of QoS 0 and 1, and those without a topic.
    case duplicate
    /// The message changes places with the next one; for messages of QoS 0, and those without a topic, as a
    /// server may answer in another order. If none comes before the user's deadline, or for 10 s, it comes alone.
    case reorder
    /// The connection is lost right after it.
    case disconnect
  }

  /// Why a fault makes no sense; nil when it does.
  var objection: String? {
    switch trigger {
    case .at(let count, _) where count < 1, .every(let count, _) where count < 1:
      return "occurrences are counted from 1"
    case .chance(let probability, _) where !(0...1).contains(probability):
      return "a probability is in 0...1"
    case .at, .every, .chance: break
    }
    let kind = trigger.kind
    switch effect {
    case .disconnect:
      return kind == .request ? "a request has no connection that could be cut" : nil
    case .drop:
      guard kind == .subscribe || kind == .request else { return nil }
      return "a SUBSCRIBE or a request can't be dropped, only its answer"
    case .fail:
      return kind == .publish || kind == .request ? nil : "only messages and requests can fail"
    case .delay(let duration):
      if duration < .zero { return "a delay is not negative" }
      return kind.isAction ? "only events can be delayed" : nil
    case .duplicate, .reorder:
      return kind == .message || kind == .frame ? nil : "only messages can be"
    }
  }
}
