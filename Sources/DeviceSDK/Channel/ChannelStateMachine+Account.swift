import RepriseCore

/// Binding the channel to a user's account, and what its replies mean for that.
extension ChannelStateMachine {
  static let needsLogin = ChannelError(
    .login, "several tokens were refused; the user has to log in again")

  mutating func bind(token: String, _ id: CallID) {
    guard !token.isEmpty else { return fail(id, ChannelError(.client, "the token is empty")) }
    guard account != .needsLogin else { return fail(id, Self.needsLogin) }
    guard !isChangingAccount else { return fail(id, Self.busy) }
    account(.bindRequest, params: ["iotToken": .string(token)], for: .binding, id)
  }

  mutating func unbind(_ id: CallID) {
    guard !isChangingAccount else { return fail(id, Self.busy) }
    account(.unbindRequest, params: [:], for: .application, id)
  }

  mutating func noteLogin(_ id: CallID) {
    refusedTokens = 0
    if account == .needsLogin { setAccount(.unbound) }
    complete(id)
  }

  /// Whether the account is being bound or unbound, be it that the request waits for its reply topic.
  private var isChangingAccount: Bool {
    guard let topics else { return false }
    return calls.values.contains { call in
      guard case .invoking(let invocation) = call else { return false }
      return invocation.topic == topics.bind || invocation.topic == topics.unbind
    }
  }

  private static let busy = ChannelError(.client, "the account is being bound or unbound")

  private mutating func account(
    _ topic: ShortTopic, params: JSONValue, for purpose: OpenInvocation.Purpose, _ id: CallID
  ) {
    invoke(Invocation(.short(topic), params: params), for: purpose, id)
  }

  private mutating func setAccount(_ state: AccountState) {
    guard state != account else { return }
    account = state
    log(.info, .account, "the account is \(state.rawValue)")
    tell(.changeAccount(state))
  }

  /// Nothing is known of the account of another identity.
  mutating func forgetBinding() {
    if account == .bound { setAccount(.unbound) }
  }

  // MARK: What requests and replies mean

  /// A request is being sent; binding and unbinding count whoever sends them.
  mutating func noteAccountRequest(_ topic: FullTopic) {
    guard let topics else { return }
    let isBind = topic == topics.bind
    guard isBind || topic == topics.unbind else { return }
    if account != .binding, account != .unbinding { accountBefore = account }
    setAccount(isBind ? .binding : .unbinding)
  }

  mutating func noteAccountSuccess(_ topic: FullTopic) {
    if topic == topics?.bind {
      refusedTokens = 0
      setAccount(.bound)
    } else if topic == topics?.unbind {
      // The user who could not be bound has not logged in for that.
      setAccount(refusedTokens < configuration.bindAttempts ? .unbound : .needsLogin)
    }
  }

  /// A request is over; what was not decided by its reply is as it was before.
  mutating func noteAccountEnd(_ topic: FullTopic) {
    switch account {
    case .binding:
      if topic == topics?.bind { setAccount(accountBefore) }
    case .unbinding:
      if topic == topics?.unbind { setAccount(accountBefore) }
    case .unbound, .bound, .needsLogin: break
    }
  }

  mutating func noteRefusedToken(_ code: Int, _ topic: FullTopic) {
    guard Self.refusesToken(code), topic == topics?.bind else { return }
    refusedTokens += 1
    if refusedTokens >= configuration.bindAttempts { setAccount(.needsLogin) }
  }

  /// Tells whether a code says that the token is stale, or can't be refreshed.
  static func refusesToken(_ code: Int) -> Bool { code == 2_043 || code == 2_401 }

  /// Returns how long to wait before a new try with the same token; nil when there is none.
  func retryDelay(after code: Int, _ invocation: OpenInvocation) -> Duration? {
    guard case .binding = invocation.purpose,
      invocation.attempt + 1 < configuration.bindAttempts
    else { return nil }
    switch code {
    case 2_152: return configuration.lockRetry.delay(attempt: invocation.attempt)
    case 429: return configuration.throttleRetry.delay(attempt: invocation.attempt)
    default: return nil
    }
  }
}

extension ShortTopic {
  static let bindRequest = ShortTopic(stripped: "/account/bind")
  static let unbindRequest = ShortTopic(stripped: "/account/unbind")
}

extension ChannelTopics {
  /// The topic of the request that binds an account.
  package var bind: FullTopic { FullTopic(unchecked: up + ShortTopic.bindRequest.text) }
  /// The topic of the request that takes the binding back.
  package var unbind: FullTopic { FullTopic(unchecked: up + ShortTopic.unbindRequest.text) }
}
