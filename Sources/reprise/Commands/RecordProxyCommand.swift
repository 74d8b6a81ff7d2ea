import Capture
import LiveClient
import Proxy
import RepriseCore

/// `reprise record proxy`: records what passes between clients and a server.
enum RecordProxyCommand: Command {
  static let spec = CommandSpec(
    name: "record proxy", summary: "Stands between clients and a server, and records all bytes.",
    operands: "LISTEN UPSTREAM", operandCount: 2...2, options: ProxySettings.options,
    missing: RecordCommand.missing,
    details: """
      LISTEN is HOST:PORT, or a port alone for localhost, or :PORT for all addresses of this
      computer. UPSTREAM is the server: HOST:PORT, or mqtt://HOST, ws://HOST or tcp://HOST:PORT;
      with TLS mqtts://HOST, wss://HOST or tls://HOST:PORT, whose certificate is verified. Its
      name is looked up when the command begins.

      Clients speak without TLS, whatever the server does, and with --tls by TLS. Then each gets
      a certificate for the name that it asks for, by a certificate authority of your own that
      it must trust: see reprise help ca. What a client offers by ALPN is offered to the server,
      and what that chooses is what it gets. A client's own certificate can't be passed on:
      comments tell of it, and the server gets that of --cert. The secrets of TLS go to the file
      that SSLKEYLOGFILE names, if it does.

      All bytes pass as they come, whatever they are, and so do ends and resets. A client of a
      server that is not reached is reset. No privilege is needed.

      The capture has each connection as its client had it, with the times of this computer: a
      handshake, segments, ends. The addresses are the real ones; the server's port is the
      upstream's, 1883 behind mqtt:// and mqtts://, and 80 behind ws:// and wss://, by which
      others know what they see. So do 1883 and 80 for tls:// and the ports 8883 and 443. To
      HOST:PORT bytes pass as they are, also those of TLS, and PORT stays what it is.
      What the real ports are, and where a connection goes on to, stands in comments.
      Whatever happens, what was seen is in the file a moment later. The file is created when
      all is ready, and only you may read it. Passwords that pass are in it.

      With --rotate -o day.pcapng the files are called day-0001.pcapng, day-0002.pcapng and
      so on; numbers that exist are passed over, or replaced with --force. Each file can be
      read alone; of connections that began in an earlier one it has the rest.

      With --conform violations of MQTT and WebSocket are printed as they come, as those of
      conform trace on the capture, and its report behind them. Frames count over all files.

      Rules of --fault, for each connection and for both directions, or with client. or server.
      in front for what one of them sends:
        delay:TIME     passes bytes on so much later, 1ms to 1h
        chop:N         writes at most N bytes at once
        corrupt:N      turns the bits of byte N over, from 1
        drop:N         breaks the connection off behind N bytes
      The capture has what each end got. From where something was spoilt it says so in each
      packet of the connection, for inspect as a GAP (altered) and for others in a comment: no
      clause fails for what the end did whose bytes were spoilt, and behind drop none for what
      either did. With delay none fails for its time, and --conform tells all at the end.

      Status: 0 when --duration, --count or --max-size ended it, 2 when LISTEN or UPSTREAM can't
      be or nothing more could be written, 130 interrupted, 143 terminated. With --conform 1
      where a clause is violated, and 2 where none had anything to judge.

      Examples:
        reprise record proxy localhost:1884 localhost:1883 -o session.pcapng
        reprise record proxy :9002 ws://broker:9001 --duration 10m -o session.pcapng
        reprise record proxy 1884 broker:1883 --fault server.chop:1 --fault client.delay:50ms \\
          -o session.pcapng
        reprise record proxy 8884 mqtts://broker --tls -o session.pcapng
        reprise record proxy 1884 mqtts://broker --ca-file ca.pem -o - | reprise inspect -
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let settings = try ProxySettings(arguments)
    let words = arguments.operands
    guard let listen = words.first, let server = words.last else { return .unable }
    let tls = try BrokerOptions.tls(arguments, isSecure: ProxyUpstream.isSecure(server))
    let file = try settings.file.makeFile()
    let (upstream, place): (ProxyUpstream, ProxyPlace)
    do throws(DataClientError) {
      upstream = try ProxyUpstream(server, tls: tls)
      if let folder = settings.proxy.authorityFolder {
        try CertificateCommand.open(folder, console)
      }
      place = try ProxyPlace(listen)
    } catch {
      throw ToldError(description: error.message)
    }
    guard !place.isServer(of: upstream) else {
      throw UsageError(
        "LISTEN \(listen) and UPSTREAM \(upstream.name) are one place, so that the proxy would connect to itself",
        "type another port for one of them")
    }
    let proxy = try Proxy(
      place, to: upstream, options: settings.proxy)
    try file.open()
    if upstream.isSecure || settings.proxy.authorityFolder != nil { console.noteKeyLog() }
    let listeners = place.addresses.map(\.description).joined(separator: " and ")
    console.note(
      listeners, "listening for \(upstream.name), recording to \(settings.file.shownPath)")
    let verdict = ProxyVerdict()
    do {
      try await Interruption.cancel {
        try await proxy.run { try taps(settings, upstream, file, verdict, console) }
      }
    } catch {
      // What it threw last does not hide why it ended.
      try? file.close()
      throw error
    }
    try file.close()
    return verdict.status
  }

  private static func taps(
    _ settings: ProxySettings, _ upstream: ProxyUpstream, _ file: RecordingFile,
    _ verdict: ProxyVerdict, _ console: Console
  ) throws -> any ProxyTap {
    let delays = settings.proxy.faults.delays
    let judge =
      settings.judges
      ? try ProxyJudge(settings.file.path, delays: delays, verdict, console) : nil
    let recorder = try ProxyRecorder(
      to: file, by: Reprise.application, of: upstream, delays: delays,
      rotation: settings.file.rotation(of: file),
      at: LiveClock().now, watch: judge.map { judge in { judge.take($0, $1, $2, $3) } })
    let status = ProxyStatus(
      file, named: settings.file.shownPath, duration: settings.proxy.duration, console)
    // The status line is gone before a report begins.
    return ProxyTaps([recorder, status] + (judge.map { [$0] } ?? []))
  }
}
