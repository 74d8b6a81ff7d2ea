import LiveClient
import RepriseCore
import Wire

/// Why there is no connection, and what to do about it.
enum Advice {
  /// Says in a line why a connection failed.
  /// - Parameters:
  ///   - reason: What the client says.
  ///   - broker: Where it was to lead.
  /// - Returns: The line, without the program's name.
  static func line(_ reason: ClientEvent.Closed, _ broker: BrokerOptions) -> String {
    switch reason {
    case .byUser: "\(broker.url): the connection was closed"
    case .refused(let code):
      "\(broker.url): the broker refuses the connection: \(refusal(code, broker))"
    case .byServer(_, let text), .lost(let text), .unreached(let text, _):
      // What was waited for in vain names no place.
      "\(text.contains(broker.url.host) ? "" : "\(broker.url): ")\(clause(text)); "
        + remedy(clause(text), broker.url)
    }
  }

  /// Says why a connection was lost, without advice.
  static func reason(_ reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser: "the connection was closed"
    case .refused(let code): "the broker refuses the connection (code \(code))"
    case .byServer(_, let text), .lost(let text), .unreached(let text, _): clause(text)
    }
  }

  /// A sentence as a part of a line, without the advice of a library behind its last semicolon.
  static func clause(_ sentence: String) -> String {
    // A redirect's address and a server's reason stand in it as they came.
    var text = sentence.hidingSecrets
    if let advice = text.ranges(of: "; ").last { text.removeSubrange(advice.lowerBound...) }
    if text.last == "." { text.removeLast() }
    for word in ["The ", "There ", "A ", "This ", "No "] where text.hasPrefix(word) {
      text = word.lowercased() + text.dropFirst(word.count)
    }
    return text
  }

  /// The codes of a CONNACK: MQTT 3.1.1 section 3.2.2.3, MQTT 5.0 section 3.2.2.2.
  private static func refusal(_ code: UInt8, _ broker: BrokerOptions) -> String {
    let (meaning, remedy) =
      switch code {
      case 1, 0x84:
        (
          "it does not speak this version of MQTT",
          broker.wireVersion == .v5_0 ? "try --mqtt 3.1.1" : "try --mqtt 5.0"
        )
      case 2, 0x85: ("it does not take the client identifier", "give another one by --client-id")
      case 3, 0x88, 0x89: ("it is not available now", "try again later")
      case 4, 0x86:
        ("wrong user name or password", "check --username and what is in --password-file")
      case 5, 0x87:
        (
          "not authorised, or a wrong user name or password",
          "check --username and what is in --password-file"
        )
      case 0x8A: ("this client is banned", "ask whoever runs it")
      case 0x9C, 0x9D: ("it has moved", "ask whoever runs it for the new address")
      case 0x9F: ("too many connections in too short a time", "try again later")
      default: ("code \(code)", "look at its log")
      }
    return "\(meaning) (code \(code)); \(remedy)"
  }

  private static func remedy(_ text: String, _ url: BrokerURL) -> String {
    let lower = text.lowercased()
    if url.path != nil, let remedy = webSocketRemedy(lower, url) { return remedy }
    if lower.contains("not trusted"), lower.contains("expired") || lower.contains("not yet valid") {
      return
        "ask for a valid certificate, see whether the clock is right, or, in a test, add --insecure"
    }
    if lower.contains("not trusted") {
      return "name the file of its authority's certificate by --ca-file, "
        + "or, in a test, add --insecure"
    }
    if lower.contains("is not for the host") {
      return "use the host name that it is for, or, in a test, add --insecure"
    }
    if lower.contains("does not use the pre-shared key") {
      return "leave --psk out and trust its certificate, or use the port that the key is for"
    }
    if lower.contains("pre-shared key") { return "check --psk-identity and --psk" }
    if lower.contains("tls:") {
      return "check the port, and whether the broker wants --cert and --key"
    }
    if lower.contains("refused") { return "check host and port, and whether a broker runs there" }
    if lower.contains("name or service") || lower.contains("name resolution")
      || lower.contains("address associated")
    {
      return "check the host name"
    }
    if lower.contains("closed the connection") || lower.contains("disconnected")
      || lower.contains("reset")
    {
      return url.isSecure
        ? "check the port: there may be no TLS" : "check the port: it may be one for TLS, mqtts://"
    }
    return "check host, port and network"
  }

  /// What to do about a WebSocket that can't be opened; nil where the reason is none of WebSocket's own.
  private static func webSocketRemedy(_ text: String, _ url: BrokerURL) -> String? {
    if text.contains("names another place") { return "type that URL if it is to be trusted" }
    if text.contains("http status 401") { return "check user name and password" }
    if text.contains("http status") { return "check the path, and who may connect there" }
    if text.contains("subprotocol") || text.contains("websocket-accept") {
      return "check host, port and path: something else may answer there"
    }
    if text.contains("tls could not be begun") {
      return "check the port: there may be no TLS, ws://"
    }
    if text.contains("no answer of http") {
      return url.isSecure
        ? "check the port: it may speak MQTT itself, mqtts://"
        : "check the port: it may speak MQTT itself, mqtt://, or be one for TLS, wss://"
    }
    if text.contains("unable to connect") {
      return "check host and port, and whether a server runs there"
    }
    return nil
  }
}
