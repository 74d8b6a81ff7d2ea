// The identifiers that no application's actions have, which count up from 1.
extension ClientAction.ID {
  /// What a client is told last, which nobody waits for.
  package static let goodbye = ClientAction.ID(rawValue: .max)
  /// What a client of MQTT has one of frames carry, whose outcomes it does not tell apart.
  package static let carried = ClientAction.ID(rawValue: 0)

  /// What a fault injector cuts a connection by, below those that are awaited.
  package static let cut = ClientAction.ID(rawValue: .max - 1 - (1 << 30))

  /// A request that ``DataClient/send(_:timeout:)`` awaits.
  /// - Parameter number: How many were awaited before; any.
  /// - Returns: The identifier, one of the 2³⁰ below ``goodbye``.
  static func awaited(_ number: UInt32) -> Self {
    Self(rawValue: .max - 1 - number % (1 << 30))
  }
}
