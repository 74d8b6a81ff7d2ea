extension SimulatedCloud {
  /// Tells a gateway something now, or as soon as there is a connection.
  /// - Parameter push: What it says.
  public func push(_ push: GatewayPush) { command(.told(push)) }

  /// Ends the sessions of a gateway's sub-devices, as the cloud does when it sees that the gateway's
  /// connection is lost, which a client of a broker can't see.
  /// - Parameter gateway: The gateway.
  public func endSessions(of gateway: CloudDevice) { command(.lost(gateway)) }

  /// The gateway of each sub-device.
  public var topology: [CloudDevice: CloudDevice] { gateways?.topology ?? [:] }

  /// The sub-devices that are online.
  public var onlineSubdevices: Set<CloudDevice> { Set((gateways?.sessions ?? [:]).keys) }

  /// How many commands each device has answered; the gateway's own answers are its own.
  public var answerCounts: [CloudDevice: Int] { gateways?.answers ?? [:] }
}
