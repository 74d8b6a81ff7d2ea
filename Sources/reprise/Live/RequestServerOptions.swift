import LiveClient
import Wire

/// Where a simulated server of requests listens, and whom it serves.
struct RequestServerOptions: Sendable {
  /// Where it is, as its user typed it.
  let url: BrokerURL
  /// What the server is made with.
  let server: WebSocketServerOptions

  /// How long to wait for a client's Close frame, and then for its end, when the command is interrupted: it
  /// has ten seconds for both.
  private static let closeTime = Duration.seconds(2)

  /// Whether a URL, with the options behind it, is one to listen on and not that of a broker.
  /// - Throws: ``UsageError`` when it is no URL.
  static func areMeant(by text: String, _ arguments: Arguments) throws(UsageError) -> Bool {
    try BrokerOptions.url(text).path != nil && !arguments.has(BrokerOptions.version)
  }

  /// Reads the options.
  /// - Parameters:
  ///   - text: The URL, as it was typed.
  ///   - arguments: The options.
  /// - Throws: ``UsageError``.
  init(_ text: String, _ arguments: Arguments) throws(UsageError) {
    url = try BrokerOptions.url(text)
    let foreign =
      [
        BrokerOptions.clientID, BrokerOptions.username, BrokerOptions.passwordFile,
        BrokerOptions.insecure, BrokerOptions.keepAlive,
      ] + SharedKeyOptions.all
    for option in foreign where arguments.has(option) {
      throw UsageError(
        "--\(option.name) is for a broker, and with ws:// and wss:// the command is the server",
        "leave it out, or add --mqtt 3.1.1 if a broker is there")
    }
    guard url.username == nil else {
      throw UsageError("a server has no use for the user name in its URL", "leave it out")
    }
    server = WebSocketServerOptions(
      address: url.host, port: url.port, tls: try Self.tls(arguments, isSecure: url.isSecure),
      limits: WebSocketServerLimits(closeTime: Self.closeTime))
  }

  private static func tls(
    _ arguments: Arguments, isSecure: Bool
  ) throws(UsageError) -> ServerTLSOptions? {
    let options = [BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.authority]
    guard isSecure else {
      guard let option = options.first(where: arguments.has) else { return nil }
      throw UsageError(
        "--\(option.name) is for TLS, which ws:// does without", "type wss://HOST:PORT")
    }
    guard let certificate = arguments.value(options[0]), let key = arguments.value(options[1])
    else {
      throw UsageError(
        "a server with TLS needs a certificate and its key",
        "type both: --cert FILE --key FILE")
    }
    try BrokerOptions.checkPEM(arguments)
    return ServerTLSOptions(
      certificateFile: certificate, keyFile: key, clientAuthorityFile: arguments.value(options[2]))
  }

  /// Says whether a client is served: with a path in the URL, only who asks for that.
  /// - Parameter request: The client's opening request.
  /// - Returns: The answer to it.
  func decision(on request: WebSocketRequest) -> WebSocketDecision {
    let served = url.path?.prefix { $0 != "?" } ?? "/"
    guard served != "/", request.path != served else { return .accept }
    return .refuse(status: 404, body: "Here is only \(served).")
  }
}

extension WebSocketRequest {
  /// What the client asks for, without a query, which can hold a token.
  var path: Substring { target.prefix { $0 != "?" } }
}
