import Driver
import LiveClient
import RepriseCore
import SessionReplay

/// `reprise replay drive`: is the clients of a recorded session, for a live server.
enum ReplayDriveCommand: Command {
  static let header = OptionSpec(
    name: BrokerOptions.header.name, value: "FIELD", repeats: true,
    help: "Adds a field to the request for WebSocket, or to each of HTTP: 'X-Key: value'.")

  static let spec = CommandSpec(
    name: "replay drive", summary: "Is the clients of a recorded session, for a live server.",
    operands: "FILE URL", operandCount: 2...2,
    options: SessionOptions.own + [
      BrokerOptions.username, BrokerOptions.passwordFile, BrokerOptions.authority,
      BrokerOptions.certificate, BrokerOptions.key, BrokerOptions.insecure, header,
    ] + SessionOptions.files,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl), or a
      folder with one; - is standard input. URL is mqtt://HOST:PORT, mqtts:// for TLS, or ws://
      and wss://HOST:PORT/PATH, whatever carried the MQTT in the session. A session of WebSocket
      without MQTT is repeated at a URL of WebSocket, with its recorded path where the URL has
      none, and with its recorded fields, but for extensions and what is hidden. One of HTTP
      is repeated at http:// or https://HOST:PORT; a path there stands in front of the
      recorded ones.

      What its clients sent, the server gets again, on as many connections: each packet when
      all that came before it in the session, on any connection, has happened, and as much
      later as it was. Acknowledgements have the identifiers of the server.

      What the server sends is compared with the session. Messages may come in any order, and
      sooner than they did; acknowledgements by what they acknowledge. It ends with 0 when all
      of the session has happened. Where the server does something else it ends with 1, and
      shows the place, what was expected, what came, and what to type next. A server keeps what
      it was sent before: a session that was recorded with a fresh one needs a fresh one.

      Requests of HTTP have their recorded fields, but for those of a connection and what is
      hidden. Of an answer the status, what the content is, and the body are compared. What a
      server names anew by an id, the requests that follow ask for by that.

      Recordings do not tell passwords: --username and --password-file are what all clients
      show then.

      Examples:
        reprise replay drive session.jsonl mqtt://localhost
        reprise replay drive customer.pcap mqtts://host --speed max --ca-file ca.pem
        reprise replay drive customer.pcap ws://localhost:8080/mqtt --client-id meter-7
        reprise replay drive chat.pcap ws://localhost:8080 --header 'Authorization: Bearer t'
        reprise replay drive api.pcap http://localhost:8080 --decode 8080=http
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let text = arguments.operands.last ?? ""
    let url = try BrokerURL.isHTTP(text) ? httpURL(text) : BrokerOptions.url(text)
    let (username, password) = try credentials(arguments, url, console)
    let headers = try BrokerOptions.headers(arguments, isWebSocket: url.path != nil)
    let tls = try BrokerOptions.tls(arguments, isSecure: url.isSecure, isHTTP: url.isHTTP)
    let place = try BrokerPlace(
      url, tls: tls, credentials: .init(), headers: headers)
    if url.isSecure { console.noteKeyLog() }
    guard let run = try SessionRun(arguments, console) else { return .unable }
    var script = run.script
    try check(url, script, hasCredentials: username != nil || password != nil)
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
    let settings = run.options.settings
    return try run.run(with: place.name, repeats: run.options.repeats) {
      guard script.isHTTP else { return ReplayClients(script, settings, at: place) }
      return ReplayHTTPClients(
        script, settings, at: place, HTTPServerPlace(url, headers: headers))
    }
  }

  private static func httpURL(_ text: String) throws(UsageError) -> BrokerURL {
    let url: BrokerURL
    do throws(DataClientError) { url = try BrokerURL(ofHTTP: text) } catch {
      throw UsageError(
        Advice.clause(error.message), "type http://HOST:PORT or https://HOST:PORT")
    }
    guard url.path?.contains("?") != true else {
      throw UsageError(
        "the URL has a query, and the session has those of its requests", "leave it out")
    }
    return url
  }

  /// Checks that what was typed goes with what the session speaks.
  private static func check(
    _ url: BrokerURL, _ script: SessionScript, hasCredentials: Bool
  ) throws(UsageError) {
    if script.isHTTP || url.isHTTP { try checkHTTP(url, script) }
    guard script.isHTTP || script.isWebSocket else { return }
    guard url.path != nil else {
      throw UsageError(
        "\(url) is a URL of MQTT, and the session is WebSocket without it",
        "type ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
    }
    guard !hasCredentials else {
      throw UsageError(
        "\(script.isHTTP ? "HTTP" : "WebSocket") has no user name and no password",
        "type what the server lets in by as --header 'Authorization: ...'")
    }
  }

  private static func checkHTTP(_ url: BrokerURL, _ script: SessionScript) throws(UsageError) {
    guard script.isHTTP else {
      throw UsageError(
        "\(url) is a URL of HTTP, and the session is \(script.isWebSocket ? "WebSocket" : "MQTT")",
        script.isWebSocket
          ? "type ws://HOST:PORT/PATH or wss://HOST:PORT/PATH"
          : "type mqtt://HOST:PORT or mqtts://HOST:PORT, or ws:// or wss://HOST:PORT/PATH")
    }
    guard url.isHTTP else {
      throw UsageError(
        "\(url) is no URL of HTTP, which the session is",
        "type http://HOST:PORT or https://HOST:PORT"
      )
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
