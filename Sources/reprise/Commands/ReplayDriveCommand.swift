import Driver
import LiveClient
import RepriseCore
import SessionReplay

/// `reprise replay drive`: is the clients of a recorded session, for a live server.
enum ReplayDriveCommand: Command {
  static let spec = CommandSpec(
    name: "replay drive", summary: "Is the clients of a recorded session, for a live server.",
    operands: "FILE URL", operandCount: 2...2,
    options: SessionOptions.own + [
      BrokerOptions.username, BrokerOptions.passwordFile, BrokerOptions.authority,
      BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure, BrokerOptions.header,
    ] + SessionOptions.files,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl), or a
      folder with one; - is standard input. URL is mqtt://HOST:PORT, mqtts:// for TLS, or ws://
      and wss://HOST:PORT/PATH, whatever carried the MQTT in the session. A session of WebSocket
      without MQTT is repeated at a URL of WebSocket, with its recorded path where the URL has
      none, and with its recorded fields, but for extensions and what is hidden.

      What its clients sent, the server gets again, on as many connections: each packet when
      all that came before it in the session, on any connection, has happened, and as much
      later as it was. Acknowledgements have the identifiers of the server.

      What the server sends is compared with the session. Messages may come in any order, and
      sooner than they did; acknowledgements by what they acknowledge. It ends with 0 when all
      of the session has happened. Where the server does something else it ends with 1, and
      shows the place, what was expected, what came, and what to type next. A server keeps what
      it was sent before: a session that was recorded with a fresh one needs a fresh one.

      Recordings do not tell passwords: --username and --password-file are what all clients
      show then.

      Examples:
        reprise replay drive session.jsonl mqtt://localhost
        reprise replay drive customer.pcap mqtts://host --speed max --ca-file ca.pem
        reprise replay drive customer.pcap ws://localhost:8080/mqtt --client-id meter-7
        reprise replay drive chat.pcap ws://localhost:8080 --header 'Authorization: Bearer t'
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let text = arguments.operands.last ?? ""
    let url = try BrokerOptions.url(text)
    let (username, password) = try credentials(arguments, url, console)
    let place = try BrokerPlace(
      url, tls: BrokerOptions.tls(arguments, isSecure: url.isSecure), credentials: .init(),
      headers: BrokerOptions.headers(arguments, isWebSocket: url.path != nil))
    if url.isSecure { console.noteKeyLog() }
    guard let run = try SessionRun(arguments, console) else { return .unable }
    var script = run.script
    if script.isWebSocket { try check(url, username, password) }
    script.replaceCredentials(username: username, password: password)
    if let hidden = script.connections.first(where: \.lacksPassword) {
      console.note(
        run.file,
        "the password of connection \(hidden.number) is hidden in it; type --password-file FILE if "
          + "the server asks for it")
    }
    if let place = script.hidingMessage {
      console.note(run.file, "what is hidden in it is sent as ***, first at \(place)")
    }
    return try run.run(with: place.name, repeats: run.options.repeats) {
      ReplayClients(script, run.options.settings, at: place)
    }
  }

  /// Checks that what was typed is for a session of WebSocket alone.
  private static func check(
    _ url: BrokerURL, _ username: String?, _ password: [UInt8]?
  ) throws(UsageError) {
    guard url.path != nil else {
      throw UsageError(
        "\(url) is a URL of MQTT, and the session is WebSocket without it",
        "type ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
    }
    guard username == nil, password == nil else {
      throw UsageError(
        "WebSocket has no user name and no password",
        "type what the server lets in by as --header 'Authorization: ...'")
    }
  }

  /// What all clients show in the place of what they showed.
  private static func credentials(
    _ arguments: Arguments, _ url: BrokerURL, _ console: Console
  ) throws(UsageError) -> (username: String?, password: [UInt8]?) {
    guard arguments.value(BrokerOptions.username) == nil || url.username == nil else {
      throw UsageError(
        "the user name stands in the URL and in --username", "leave one of them out")
    }
    let username = arguments.value(BrokerOptions.username) ?? url.username
    guard let path = arguments.value(BrokerOptions.passwordFile) else {
      if url.password != nil {
        console.note(
          url.description,
          "all users of this computer can see the password in the URL; use --password-file")
      }
      return (username, url.password)
    }
    guard url.password == nil else {
      throw UsageError(
        "the password stands in the URL and in --password-file", "leave that in the URL out")
    }
    return (username, try SmallFile.firstLine(path, "--password-file"))
  }
}
