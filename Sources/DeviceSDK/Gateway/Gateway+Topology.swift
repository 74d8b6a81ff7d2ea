/// What the cloud knows of the gateway's sub-devices.
extension Gateway {
  /// Asks the cloud which sub-devices are the gateway's, and brings the lines up to it.
  /// - Returns: The sub-devices, also those without lines.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func topology() async throws -> [Subdevice] {
    switch try await call(.topology) {
    case .subdevices(let subdevices): return subdevices
    case .done, .reply, .replies, .line, .topics, .registered: throw Self.unexpected
    }
  }

  /// Tells the cloud which devices were found, so that it may ask for them to be added.
  /// - Parameter subdevices: The devices.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func reportFound(_ subdevices: [Subdevice]) async throws {
    _ = try await call(.reportFound(subdevices))
  }

  /// What the cloud says of sub-devices from now on; the newest 256 are kept.
  public var notices: BroadcastSequence<GatewayNotice> { hub.notices.listen(limit: 256) }

  /// Has the cloud register sub-devices of products that allow it.
  /// - Parameter registrations: The sub-devices; those without a name get one of the cloud's.
  /// - Returns: What the cloud made of them, with their secrets.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  public func register(
    _ registrations: [SubdeviceRegistration]
  ) async throws -> [RegisteredSubdevice] {
    switch try await call(.register(registrations)) {
    case .registered(let registered): return registered
    case .done, .reply, .replies, .line, .topics, .subdevices: throw Self.unexpected
    }
  }

  /// Has the cloud forget sub-devices that were registered.
  /// - Parameter subdevices: The sub-devices.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  public func unregister(_ subdevices: [Subdevice]) async throws {
    _ = try await call(.unregister(subdevices))
  }
}
