import LiveClient
import RepriseCore
import Wire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How to reach a broker: the options of every command that connects to one.
struct BrokerOptions {
  static let clientID = OptionSpec(
    name: "client-id", value: "ID", help: "The client identifier.")
  static let version = OptionSpec(
    name: "mqtt", value: "VERSION", choices: ["3.1.1", "5.0"],
    help: "The version of MQTT to speak; 3.1.1 if nothing is said.")
  static let username = OptionSpec(
    name: "username", value: "NAME", help: "The user name; it may also stand in the URL.")
  static let passwordFile = OptionSpec(
    name: "password-file", value: "FILE", isFile: true,
    help: "The password is the first line of FILE.")
  static let authority = OptionSpec(
    name: "ca-file", value: "FILE", isFile: true,
    help: "The certificates of the authorities to trust (PEM); as it is those of the system.")
  static let certificate = OptionSpec(
    name: "cert", value: "FILE", isFile: true, help: "The certificate to show (PEM).")
  static let key = OptionSpec(
    name: "key", value: "FILE", isFile: true, help: "The key of that certificate (PEM).")
  static let insecure = OptionSpec(
    name: "insecure", help: "Trusts any server, whoever it is; for tests only.")
  static let keepAlive = OptionSpec(
    name: "keep-alive", value: "TIME",
    help: "The longest silence of the connection, 5s to 18h; 60s if nothing is said.")

  static let header = OptionSpec(
    name: "header", value: "FIELD", repeats: true,
    help: "Adds a field to the request for WebSocket: 'X-Key: value'.")

  /// The options, in the order of the help.
  static let all =
    [
      clientID, version, username, passwordFile, authority, certificate, key, insecure,
    ] + SharedKeyOptions.all + [keepAlive]

  /// Where the broker is.
  let url: BrokerURL
  /// How to connect.
  private(set) var connect: ConnectOptions
  private let speaks: MosquittoClient.Version
  private var tls: TLSOptions
  /// Fields of the request for WebSocket.
  private let headers: [String: String]

  /// Reads the options.
  /// - Parameters:
  ///   - text: The URL, as it was typed.
  ///   - arguments: The options.
  ///   - console: How to tell the user about passwords that others can see.
  ///   - name: The client identifier if none was typed.
  /// - Throws: ``UsageError``.
  init(
    _ text: String, _ arguments: Arguments, _ console: Console, clientID name: String
  ) throws(UsageError) {
    url = try Self.url(text)
    speaks = arguments.value(Self.version) == "5.0" ? .v5_0 : .v3_1_1
    tls = try Self.tls(arguments, isSecure: url.isSecure)
    tls.preSharedKey = try SharedKeyOptions.read(arguments, for: url)
    headers = try Self.headers(arguments, isWebSocket: url.path != nil)
    connect = ConnectOptions(clientID: arguments.value(Self.clientID) ?? name)
    if let seconds = try Self.keepAlive(arguments) { connect.keepAlive = seconds }
    try addCredentials(arguments, console)
    if url.isSecure { console.noteKeyLog() }
  }

  /// The version of MQTT that is spoken, as recordings name it.
  var wireVersion: MQTTVersion { speaks == .v5_0 ? .v5_0 : .v3_1_1 }

  /// Whether the broker is behind a WebSocket.
  var isWebSocket: Bool { url.path != nil }

  /// Makes a client, which is not connected.
  /// - Returns: The client.
  /// - Throws: `DataClientError` when the system has no threads, or certificates can't be used.
  func makeClient() throws(DataClientError) -> BrokerClient {
    guard isWebSocket else {
      return .tcp(try MosquittoClient(url: url.address, version: speaks, tls: tls))
    }
    var options = WebSocketOptions()
    options.headers = headers
    return .webSocket(
      try MQTTWebSocketClient(url: url.address, version: speaks, options: options, tls: tls))
  }

  /// Makes a client of messages without topics, which is not connected.
  /// - Returns: The client.
  /// - Throws: `DataClientError` when the system has no threads, or certificates can't be used.
  func makeFramesClient() throws(DataClientError) -> BrokerClient {
    var options = WebSocketOptions()
    options.headers = headers
    if let name = connect.username {
      let credentials = Array("\(name):".utf8) + (connect.password ?? [])
      options.headers["authorization"] = "Basic " + Data(credentials).base64EncodedString()
    }
    return .frames(try WebSocketClient(url: url.address, options: options, tls: tls))
  }

  /// Checks that no option is there that only MQTT has a use for.
  /// - Throws: ``UsageError``.
  static func checkIsWithoutMQTT(_ arguments: Arguments) throws(UsageError) {
    for option in [clientID, version, keepAlive] where arguments.has(option) {
      throw UsageError(
        "--\(option.name) is for MQTT, and without topics there is none", "add --topic FILTER")
    }
  }

  // MARK: Reading

  /// Reads the URL of a broker.
  /// - Parameter text: What was typed.
  /// - Returns: The URL.
  /// - Throws: ``UsageError``.
  static func url(_ text: String) throws(UsageError) -> BrokerURL {
    do throws(DataClientError) { return try BrokerURL(text) } catch {
      throw UsageError(
        Advice.clause(error.message),
        "type mqtt://HOST:PORT or mqtts://HOST:PORT, or ws:// or wss://HOST:PORT/PATH")
    }
  }

  /// Reads the options for TLS.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - isSecure: Whether there is TLS to have options for.
  ///   - isHTTP: Whether HTTP is spoken.
  /// - Returns: What they say.
  /// - Throws: ``UsageError``.
  static func tls(
    _ arguments: Arguments, isSecure: Bool, isHTTP: Bool = false
  ) throws(UsageError) -> TLSOptions {
    for option in [authority, certificate, key, insecure] where arguments.has(option) {
      guard isSecure else {
        throw UsageError(
          "--\(option.name) is for TLS, which "
            + (isHTTP ? "http:// does without" : "mqtt:// and ws:// do without"),
          "type " + (isHTTP ? "https://HOST:PORT" : "mqtts://HOST:PORT or wss://HOST:PORT/PATH"))
      }
    }
    guard arguments.has(certificate) == arguments.has(key) else {
      throw UsageError("a certificate needs its key", "type both: --cert FILE --key FILE")
    }
    guard !arguments.has(certificate) || arguments.has(authority) else {
      throw UsageError("--cert works only with the authorities to trust", "add --ca-file FILE")
    }
    try checkPEM(arguments)
    let isVerified = !arguments.has(insecure)
    return TLSOptions(
      authorityFile: arguments.value(authority), certificateFile: arguments.value(certificate),
      keyFile: arguments.value(key), verifiesCertificate: isVerified,
      verifiesHostName: isVerified)
  }

  /// Checks that the files for TLS can be read, and hold what they should.
  /// - Throws: ``UsageError``.
  static func checkPEM(_ arguments: Arguments) throws(UsageError) {
    for option in [authority, certificate, key] {
      guard let path = arguments.value(option) else { continue }
      let kind: SmallFile.PEM = option.name == key.name ? .key : .certificate
      try SmallFile.check(path, "--\(option.name)", is: kind)
    }
  }

  static func headers(
    _ arguments: Arguments, isWebSocket: Bool
  ) throws(UsageError) -> [String: String] {
    let fields = arguments.list(header)
    guard isWebSocket || fields.isEmpty else {
      throw UsageError(
        "--header is for WebSocket, which mqtt:// and mqtts:// do without",
        "type ws:// or wss://HOST:PORT/PATH")
    }
    var headers: [String: String] = [:]
    for field in fields {
      let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0]
      guard parts.count == 2, HTTPText.isToken(name.utf8) else {
        throw UsageError(
          "--header can't be '\(field)'", "type a name, a colon and a value: 'X-Key: value'")
      }
      let value = parts[1].drop { $0 == " " || $0 == "\t" }
      guard !value.utf8.contains(where: HTTPText.isControl) else {
        throw UsageError("--header \(name) has control characters", "type a value without them")
      }
      guard headers.updateValue(String(value), forKey: name.lowercased()) == nil else {
        throw UsageError("--header \(name) stands there twice", "type it once")
      }
    }
    return headers
  }

  private static func keepAlive(_ arguments: Arguments) throws(UsageError) -> UInt16? {
    guard let time = try arguments.duration(keepAlive) else { return nil }
    let (seconds, fraction) = time.components
    guard fraction == 0, (5...64_800).contains(seconds) else {
      throw UsageError(
        "--keep-alive is not in 5s to 18h, or not in whole seconds", "type such as 60s")
    }
    return UInt16(clamping: seconds)
  }

  private mutating func addCredentials(
    _ arguments: Arguments, _ console: Console
  ) throws(UsageError) {
    guard arguments.value(Self.username) == nil || url.username == nil else {
      throw UsageError(
        "the user name stands in the URL and in --username", "leave one of them out")
    }
    connect.username = arguments.value(Self.username) ?? url.username
    connect.password = url.password
    if let path = arguments.value(Self.passwordFile) {
      guard url.password == nil else {
        throw UsageError(
          "the password stands in the URL and in --password-file", "leave that in the URL out")
      }
      connect.password = try SmallFile.firstLine(path, "--password-file")
    } else if url.password != nil {
      console.note(
        url.description,
        "all users of this computer can see the password in the URL; use --password-file")
    }
    guard connect.username == nil || headers["authorization"] == nil else {
      throw UsageError(
        "the user name and --header Authorization say the same", "leave one of them out")
    }
    guard connect.username != nil || connect.password == nil || speaks == .v5_0 else {
      throw UsageError(
        "MQTT 3.1.1 takes no password without a user name", "add --username NAME")
    }
  }
}
