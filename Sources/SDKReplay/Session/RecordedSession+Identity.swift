import DeviceSDK
import RepriseCore

/// The identity of a session's app.
extension RecordedSession {
  /// How the client connected; nil when no CONNECT was captured.
  var firstConnect: ConnectOptions? {
    for action in actions where !action.isImplied {
      if case .connect(let options) = action.kind { return options }
    }
    return nil
  }

  /// Returns the identity of the app: what its topics name, and of several what it signed in as.
  /// - Throws: `DataClientError` that says what the session is instead.
  func identity(_ connect: ConnectOptions?) throws(DataClientError) -> ChannelIdentity {
    let named = [connect?.username, connect?.clientID].compactMap { $0.flatMap(Self.identity) }
    let known = named.first { name in identities.contains { $0.clientID == name.clientID } }
    // A client that was never let in has no topics, and its name is all there is.
    let isSilent = identities.isEmpty && otherTopics.isEmpty
    let single = identities.count == 1 ? identities.first : nil
    guard let found = known ?? single ?? (isSilent ? named.first : nil) else { throw noApp() }
    do {
      return try ChannelIdentity(
        productKey: found.productKey, deviceName: found.deviceName,
        mqttClientID: connect?.clientID, password: connect?.password)
    } catch {
      throw DataClientError(.unreadable, error.message)
    }
  }

  /// Reads `deviceName&productKey`; in a client identifier, what follows `|` is for the cloud.
  private static func identity(_ name: String) -> ChannelIdentity? {
    let parts = name.prefix { $0 != "|" }.split(
      separator: "&", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return try? ChannelIdentity(productKey: String(parts[1]), deviceName: String(parts[0]))
  }

  private func noApp() -> DataClientError {
    let rule = "an app sends below /sys/PRODUCT/DEVICE/app/up and receives below …/app/down"
    guard identities.count < 2 else {
      let names = identities.prefix(5).map(\.clientID).joined(separator: ", ")
      return DataClientError(
        .unreadable, "the session has the topics of several apps (\(names)), so it is no app's own")
    }
    let found =
      otherTopics.isEmpty
      ? "it has no topics, and its client and user name are not DEVICE&PRODUCT"
      : "it has " + otherTopics.joined(separator: ", ")
    return DataClientError(.unreadable, "the session is no app's: \(rule), but \(found)")
  }

  /// The filters of the first SUBSCRIBE, if it follows the first CONNECT and has several.
  var subscriptionsAtOnce: [String] {
    guard actions.count > 1, case .connect = actions[0].kind,
      case .subscribe(let wanted) = actions[1].kind, wanted.count > 1
    else { return [] }
    return wanted.map(\.filter)
  }

  /// Returns the filters that a session which begins in the middle had before: what the next connection asks for
  /// again, up to what was asked for in the session; everything below the prefix when that does not tell.
  func subscriptionsBefore(_ topics: ChannelTopics) -> [String] {
    var asked: Set<String> = []
    for (number, action) in actions.enumerated() {
      guard case .connect = action.kind, !action.isImplied else {
        if case .subscribe(let wanted) = action.kind { asked.formUnion(wanted.map(\.filter)) }
        continue
      }
      guard number + 1 < actions.count, case .subscribe(let wanted) = actions[number + 1].kind
      else { break }
      let before = wanted.map(\.filter).prefix { !asked.contains($0) }
      if !before.isEmpty { return Array(before) }
      break
    }
    return [topics.down + "/#"]
  }
}
