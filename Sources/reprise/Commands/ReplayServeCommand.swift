import Driver
import LiveClient
import RepriseCore
import SessionReplay

/// `reprise replay serve`: is the recorded server, for any client.
enum ReplayServeCommand: Command {
  static let listen = OptionSpec(
    name: "listen", value: "HOST:PORT",
    help: "Waits there for clients that connect by themselves; port 0 is any that is free.")

  static let spec = CommandSpec(
    name: "replay serve", summary: "Is the server of a recorded session, for any client.",
    operands: "FILE [-- COMMAND...]", operandCount: 1...Int.max,
    options: [listen, ProxySettings.authorityFolder] + SessionOptions.own + SessionOptions.files,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl), or a
      folder with one; - is standard input. What its server sent, a client gets again: each
      packet when the client has sent what came before it in the session, and as much later as
      it was. Acknowledgements have the identifiers of the client, and what a client makes anew
      in JSON, such as the id of a request, stands in the answer as well.

      A client that connects gets the next connection of a client of its identifier; where the
      session has none, the next one that is free. MQTT 3.1, 3.1.1 and 5.0 are spoken, over TCP,
      WebSocket and, with --ca-folder, TLS, whatever carried them in the session. Where the
      session has WebSocket and no MQTT, that is served, in order of the targets that clients
      ask for, without extensions; a message that answers another by its id may come before what
      stands in front of it.

      Where it has neither, requests of HTTP/1.1 are answered, which captures have on the ports
      that --decode PORT=http names. One is found by its method, target and body among all that
      the session still has to answer, of equal ones the first, whatever connection it comes on.
      Of the target the path counts, and the query in any order, but for times and signatures;
      of the fields what the content is, and not who asks and when: no client needs
      Authorization or cookies.

      What clients send is compared with the session. Packets that nothing from the server
      separates may come in any order; pings, repeated messages and acknowledgements that the
      session lacks are no difference. It ends with 0 when all connections were served, or all
      requests answered. Where a client does something else it ends with 1, and shows the place,
      what was expected, what came, and what to type next; one of HTTP gets that as an answer of
      status 500.

      With -- COMMAND it starts the client, with {port}, {host}, {url} and {ca} in the place of
      what they name, and stops it if it still runs two seconds after the end.

      Examples:
        reprise replay serve session.jsonl --listen localhost:1883
        reprise replay serve customer.pcap --connection 4 --listen localhost:0 --speed max
        reprise replay serve session.jsonl --match topic -- ./my-app --broker {url}
        reprise replay serve api.pcap --decode 8080=http -- curl {url}/things
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let words = Array(arguments.operands.dropFirst())
    if let second = words.first,
      [".pcap", ".pcapng", ".jsonl", ".gz"].contains(where: second.hasSuffix)
    {
      throw UsageError(
        "replay serve takes one FILE, and '\(second)' is a second one",
        "serve it by a run of its own, or merge captures by mergecap")
    }
    let command = words.isEmpty ? nil : ClientCommand(words: words, .any)
    // What can't be listened on need not be read for.
    let served = try ServedPlace(
      .broker, for: command.map { [$0] } ?? [], arguments, tells: nil)
    guard let run = try SessionRun(arguments, console) else { return .unable }
    let socket = try served.place.socket()
    if let typed = arguments.value(listen) {
      let host = typed.lastIndex(of: ":").map { typed[..<$0] } ?? "localhost"
      console.note(run.file, "listening on \(host):\(socket.port)")
    }
    // A command is started anew; who connects by himself may do so at any time.
    let repeats = run.options.repeats
    let again = repeats && command == nil
    return try run.run(with: "clients", repeats: repeats && command != nil) {
      let (script, settings) = (run.script, run.options.settings)
      let entrance = try ReplayEntrance(at: served.place, on: socket, for: command, script)
      return script.isHTTP
        ? ReplayHTTPServer(script, settings, by: entrance, repeats: again)
        : ReplayServer(script, settings, by: entrance, repeats: again)
    }
  }
}
