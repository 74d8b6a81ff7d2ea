/// What keeps a connection, and tries at once when it hears that the network is back.
///
/// An application that says nothing of the network loses nothing but time: it is then tried after the back-off.
public protocol NetworkReachable: Sendable {
  /// Says whether the network is there, as the system tells the application.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  func setReachable(_ isReachable: Bool) async throws
}

extension NetworkReachable {
  /// Follows what watches the network, until that ends or the task is cancelled.
  ///
  /// ```swift
  /// async let _: Void = channel.follow(try NetworkMonitor().changes)
  /// ```
  /// On Linux that is the `NetworkMonitor` of LiveClient. Where there is the Network framework, an `NWPathMonitor` is
  /// such a sequence: `NWPathMonitor().map { $0.status == .satisfied }`.
  /// - Parameter reachability: Whether the network is there: first whether it is now, then each change.
  /// - Throws: `CancellationError`.
  public func follow(_ reachability: some AsyncSequence<Bool, Never>) async throws {
    for await isReachable in reachability { try await setReachable(isReachable) }
  }
}

extension Channel: NetworkReachable {}
extension Gateway: NetworkReachable {}
extension MQTTSession: NetworkReachable {}
extension RequestConnection: NetworkReachable {}

extension Link: NetworkReachable {
  /// Says whether the network is there, which is ``noteNetwork(_:)`` with `regained` or `lost`.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  public func setReachable(_ isReachable: Bool) async throws {
    try await noteNetwork(isReachable ? .regained : .lost)
  }
}
