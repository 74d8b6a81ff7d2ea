import DataClient
import Synchronization

/// Takes down what a replayed link is asked for and tells, with the place in the session that it comes from.
final class LinkStage: Sendable {
  private struct State {
    var openCalls: [Int: LinkObservation.Call] = [:]
    var lastNumber = 0
    /// Why the call failed that failed last.
    var failure: (call: LinkObservation.Call, error: LinkError)?
  }

  private let state = Mutex(State())
  private let client: ReplayClient
  private let observe: @Sendable (LinkObservation) -> Void

  init(_ client: ReplayClient, _ observe: @escaping @Sendable (LinkObservation) -> Void) {
    self.client = client
    self.observe = observe
  }

  /// The calls that were not completed, the earliest first.
  var openCalls: [LinkObservation.Call] {
    state.withLock { $0.openCalls.values.sorted { $0.number < $1.number } }
  }

  /// Why a call failed, if it is the one that failed last.
  func failure(of call: LinkObservation.Call) -> LinkError? {
    state.withLock { $0.failure?.call == call ? $0.failure?.error : nil }
  }

  /// Takes down that the app calls something at a place.
  func begin(_ words: LinkCallWords, at place: ReplayPlace) -> LinkObservation.Call {
    let call = state.withLock { state in
      state.lastNumber += 1
      let call = LinkObservation.Call(
        number: state.lastNumber, name: words.name, channel: words.channel,
        details: words.details)
      state.openCalls[call.number] = call
      return call
    }
    observe(LinkObservation(time: client.now, place: place, content: .called(call)))
    return call
  }

  /// Takes down how a call ended; one that ends with the session itself is left open.
  func end(_ call: LinkObservation.Call, _ result: Result<Void, any Error>) {
    guard !client.isOver else { return }
    var failure: LinkError?
    if case .failure(let error) = result {
      guard let error = error as? LinkError else { return }
      failure = error
    }
    state.withLock { state in
      state.openCalls[call.number] = nil
      if let failure { state.failure = (call, failure) }
    }
    tell(.completed(call, failure))
  }

  /// Takes down what the link tells, as long as there is a session.
  func take(_ effect: LinkEffect) {
    guard !client.isOver else { return }
    tell(.told(effect))
  }

  private func tell(_ content: LinkObservation.Content) {
    let cause = client.cause
    observe(LinkObservation(time: cause.time, place: cause.place, content: content))
  }
}

/// What a call of a link is, in words.
struct LinkCallWords: Sendable {
  let name: String
  let channel: String?
  let details: String?

  init(_ name: String, _ channel: String? = nil, _ details: String? = nil) {
    self.name = name
    self.channel = channel
    self.details = details
  }

  init(_ call: MessageLinkMachine.Call) {
    switch call {
    case .login: self.init("login")
    case .logout: self.init("logout")
    case .renewToken: self.init("renew")
    case .subscribe(let channel, let features):
      self.init("subscribe", channel, "features \(features.rawValue)")
    case .unsubscribe(let channel): self.init("unsubscribe", channel)
    case .abandonSubscription(let channel): self.init("abandon", channel)
    case .publish(let channel, let payload):
      let text = String(validating: payload, as: UTF8.self)
      self.init("publish", channel, text ?? "\(payload.count) bytes, no text")
    case .changeStates(let channel, let changes):
      self.init("states", channel, Self.text(changes))
    case .admitStream(let channel): self.init("admit", channel)
    case .releaseStream(let channel): self.init("release", channel)
    case .noteNetwork(let change): self.init("network", nil, "\(change)")
    }
  }

  init(_ call: StreamLinkMachine.Call) {
    switch call {
    case .join(_, let features): self.init("join", nil, "features \(features.rawValue)")
    case .leave: self.init("leave")
    case .renewToken: self.init("renew")
    case .changeStates(let changes): self.init("states", nil, Self.text(changes))
    case .noteServiceFailure: self.init("service", nil, "failed")
    case .noteNetwork(let change): self.init("network", nil, "\(change)")
    }
  }

  /// Changes of states as JSON; null takes one away.
  private static func text(_ changes: [String: String?]) -> String {
    let members = changes.sorted { $0.key < $1.key }.map { key, value in
      JSONMember(key, value.map(JSONValue.string) ?? .null)
    }
    return String(decoding: JSONValue.object(members).utf8, as: UTF8.self)
  }
}
