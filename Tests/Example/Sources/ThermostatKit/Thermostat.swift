public import DeviceSDK
public import RepriseCore

/// A thermostat: brings a radiator online, reports how warm the room is, and does what cloud and family say.
///
/// It knows nothing of brokers and files. Each server that it talks to is a `DataClient`, and all its time is that of
/// the cloud's client: where hours of a recording pass at once, it does not wait for them.
public struct Thermostat: Sendable {
  /// The worlds that the thermostat lives in.
  public struct Worlds: Sendable {
    /// The broker of the cloud.
    public var cloud: any DataClient
    /// The broker of the family's message service; nil has no family.
    public var family: (any DataClient)?
    /// The weather service; nil has no forecast.
    public var weather: (any DataClient)?

    /// Creates worlds.
    /// - Parameters:
    ///   - cloud: The broker of the cloud.
    ///   - family: The broker of the family's message service.
    ///   - weather: The weather service.
    public init(
      cloud: any DataClient, family: (any DataClient)? = nil, weather: (any DataClient)? = nil
    ) {
      self.cloud = cloud
      self.family = family
      self.weather = weather
    }
  }

  /// How the gateway behaves, and who it is.
  public var cloud: GatewayConfiguration
  /// The user that the thermostat is to the family.
  public var family = LinkConfiguration(
    appID: "thermostat", userID: "thermostat", heartbeatInterval: .seconds(60))
  /// Where it stands.
  public var place = "Leipzig"
  /// The time from one report to the next.
  public var interval: Duration = .seconds(900)
  /// Creates a thermostat.
  /// - Parameter credentials: The device that the gateway is to the cloud.
  /// - Throws: `GatewayError` when that is none.
  public init(_ credentials: DeviceCredentials = .gateway) throws {
    cloud = GatewayConfiguration(.own(try credentials.identity(secureMode: .tcp)))
    cloud.startTimeout = .seconds(30)
    cloud.callTimeout = .seconds(60)
    family.reconnectTimeout = .seconds(30)
  }

  /// Runs until a number of reports is made.
  /// - Parameters:
  ///   - worlds: The worlds to live in.
  ///   - radiator: The radiator.
  ///   - reports: How many reports.
  ///   - show: Takes what happens, a line each.
  /// - Throws: What went wrong with one of the servers.
  public func run(
    on worlds: Worlds, radiator: Radiator, reports: Int,
    show: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws {
    if let weather = worlds.weather {
      let forecast = try await Forecast.tonight(in: place, on: weather)
      radiator.target = forecast.target
      show(
        "the night gets as cold as \(forecast.lowest) °C, the room is to have \(radiator.target)")
    }
    try await withGateway(on: worlds.cloud, configuration: cloud) { gateway in
      try await gateway.start()
      let line = try await gateway.line(for: radiator)
      var home = Home(gateway, line, radiator, show)
      try await line.addTopology()
      try await line.goOnline()
      guard let client = worlds.family else { return try await run(home, reports) }
      try await Family.join(on: client, as: family) { family in
        home.family = family
        try await run(home, reports)
      }
    }
  }

  private func run(_ home: Home, _ reports: Int) async throws {
    try await home.live(reports: reports, every: interval)
    try await home.close()
  }
}
