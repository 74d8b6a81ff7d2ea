/// How a channel behaves and where it leads, by the names of the SDK for Android.
public struct MobileConnectConfig: Sendable, Hashable {
  /// The app's key.
  public var appkey: String
  /// The code that names the app's signature picture; a secret.
  public var securityGuardAuthcode: String
  /// The host that says who the app is; read by whoever makes the identity.
  public var authServer: String?
  /// The host without a scheme, or nothing for the default host; a port may follow behind a colon.
  public var channelHost: String?
  /// Whether the cloud is asked for the host; only without ``channelHost``.
  public var autoSelectChannelHost = false
  /// Whether the server has to show a certificate that the authority has signed.
  public var isCheckChannelRootCrt = true
  /// The path of a file with the authority's certificate; nil takes those that the system trusts.
  public var channelRootCrtFile: String?
  /// Which address to ask for the host.
  public var serverUrlForAutoSelectChannel: String?

  /// Creates a configuration.
  /// - Parameters:
  ///   - appkey: The app's key.
  ///   - securityGuardAuthcode: The code that names the app's signature picture.
  public init(appkey: String, securityGuardAuthcode: String = "") {
    self.appkey = appkey
    self.securityGuardAuthcode = securityGuardAuthcode
  }

  /// Returns the same for a ``Channel``.
  /// - Parameter identity: The identity of the app, if that is known.
  /// - Returns: The configuration.
  /// - Throws: ``ChannelError`` of kind `client` that says what is wrong.
  public func configuration(
    identity: ChannelIdentity? = nil
  ) throws(ChannelError) -> ChannelConfiguration {
    let (host, port) = try hostAndPort()
    var endpoint = ChannelConfiguration.Endpoint(
      server: host, port: port, autoSelectsHost: autoSelectChannelHost,
      autoSelectURL: serverUrlForAutoSelectChannel, certificatePath: channelRootCrtFile)
    endpoint.checksCertificate = isCheckChannelRootCrt
    let configuration = ChannelConfiguration(
      appKey: appkey, authCode: securityGuardAuthcode, identity: identity, endpoint: endpoint)
    try configuration.validate()
    return configuration
  }

  private func hostAndPort() throws(ChannelError) -> (String?, Int) {
    guard let channelHost, !channelHost.isEmpty else { return (nil, 0) }
    guard !channelHost.contains("://") else {
      throw ChannelError(.client, "channelHost is a host without a scheme: \(channelHost)")
    }
    let parts = channelHost.split(separator: ":", omittingEmptySubsequences: false)
    // More colons are those of an address of IPv6, which has no port here.
    guard parts.count == 2, let last = parts.last else { return (channelHost, 0) }
    guard let port = UInt16(last), port > 0, parts.first?.isEmpty == false else {
      throw ChannelError(.client, "channelHost is HOST or HOST:PORT: \(channelHost)")
    }
    return (parts.first.map(String.init), Int(port))
  }
}

extension MobileConnectConfig: CustomStringConvertible, CustomReflectable {
  /// The app's key and the host.
  public var description: String { "appkey \(appkey), \(channelHost ?? "the default host")" }

  /// What debuggers and `dump` show: all that is no secret and has no place of its own.
  public var customMirror: Mirror {
    Mirror(self, children: ["appkey": appkey, "channelHost": channelHost as Any])
  }
}
