public import RepriseCore

extension ChannelConfiguration {
  /// Where the channel leads: ``address(defaultHost:selectingHost:)`` is what a live client takes, as the channel opens
  /// no socket.
  public struct Endpoint: Sendable, Hashable {
    /// The host without a scheme; nil takes the default host.
    public var server: String?
    /// The port; 0 takes 8883, or 1883 in ``ChannelEnvironment/daily``.
    public var port: Int
    /// Whether the cloud is asked for the host; only without ``server``.
    public var autoSelectsHost: Bool
    /// Which address to ask for the host.
    public var autoSelectURL: String?
    /// The path of a file with the authority's certificate; nil trusts those of the system.
    public var certificatePath: String?
    /// Whether the server has to show a certificate that the authority has signed.
    public var checksCertificate = true
    /// Which installation of the cloud it is; ``ChannelEnvironment/daily`` speaks without TLS.
    public var environment = ChannelEnvironment.release

    /// Creates an endpoint.
    /// - Parameters:
    ///   - server: The host without a scheme.
    ///   - port: The port.
    ///   - autoSelectsHost: Whether the cloud is asked for the host.
    ///   - autoSelectURL: Which address to ask for the host.
    ///   - certificatePath: The path of a file with the authority's certificate.
    public init(
      server: String? = nil, port: Int = 0, autoSelectsHost: Bool = false,
      autoSelectURL: String? = nil, certificatePath: String? = nil
    ) {
      self.server = server
      self.port = port
      self.autoSelectsHost = autoSelectsHost
      self.autoSelectURL = autoSelectURL
      self.certificatePath = certificatePath
    }

    /// Returns where a live client connects, and whom it trusts there.
    ///
    /// ```swift
    /// let client = try MosquittoClient(configuration.endpoint.address(defaultHost: "iot.example"))
    /// ```
    /// - Parameters:
    ///   - defaultHost: The host where ``server`` names none.
    ///   - selectHost: Asks the cloud for the host, at ``autoSelectURL``, where ``autoSelectsHost`` wants that.
    /// - Returns: The address.
    /// - Throws: ``ChannelError`` of kind `client` when there is no host or the cloud can't be asked; and what
    ///   `selectHost` throws.
    public func address(
      defaultHost: String? = nil, selectingHost selectHost: ((String?) throws -> String)? = nil
    ) throws -> BrokerAddress {
      let isSecure = environment != .daily
      let port = port == 0 ? (isSecure ? 8_883 : 1_883) : port
      let host = try host(defaultHost, selectHost)
      // An address of IPv6 stands in brackets (RFC 3986 section 3.2.2).
      let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
      return BrokerAddress(
        url: "\(isSecure ? "mqtts" : "mqtt")://\(shown):\(port)", authorityFile: certificatePath,
        verifiesCertificate: checksCertificate)
    }

    private func host(
      _ defaultHost: String?, _ selectHost: ((String?) throws -> String)?
    ) throws -> String {
      if let server, !server.isEmpty { return server }
      if autoSelectsHost {
        guard let selectHost else {
          throw ChannelError(
            .client, "autoSelectsHost needs somebody who asks the cloud for the host")
        }
        return try selectHost(autoSelectURL)
      }
      guard let defaultHost, !defaultHost.isEmpty else {
        throw ChannelError(
          .client, "there is no host; set the endpoint's server, or a default host")
      }
      return defaultHost
    }
  }
}
