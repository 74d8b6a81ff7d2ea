/// `reprise conform trace`: judges captures and recordings.
enum ConformTraceCommand: Command {
  static let spec = CommandSpec(
    name: "conform trace",
    summary: "Judges captures and recordings by clauses of MQTT and WebSocket.",
    operands: "FILE... | --interface NAME", operandCount: 0...Int.max,
    options: ConformRun.options + [ConformRun.joined, .shard] + InterfaceOptions.live,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed), a recording (.jsonl), or a
      folder for those in it; - is standard input. All files together are judged in one report.

      Verdicts: passed, failed, not-followed (a SHOULD), inconclusive, not-exercised,
      not-applicable. Only failed fails the run (status 1), and only passed counts as
      passed. Where no clause had anything to judge the status is 2.

      --write-baseline writes what is found to a file of JSON, an entry a line, with room for
      a reason, an owner and a date (expires) of each. With --baseline these findings are
      accepted; a new one fails the run, and so does an entry that nothing matches any more,
      if its own client kept the clause, each time that it had to: to tell, the files are read
      again. Entries go by the clause, the client and what was wrong, not by frames, times or
      files.

      Several files are judged at the same time, by as many threads as --jobs says, in the
      memory that --memory allows for all of them; the report is the same with any number.

      --joined takes captures that one program wrote one after the other for the one session
      that they are: dumpcap -b, tcpdump -C or -G, and record interface --rotate write such.
      They are read in the order of their first frames; the report says with which frame each
      begins.

      --shard 3/16 judges the third of sixteen parts of the files, for as many machines;
      reprise report merge joins their reports in JSON to that on all files.

      With --client only that client's connections are reported. The others are judged as
      well, because what they publish is what it gets; the files are read twice for it.

      With --interface a network interface is judged while traffic passes it: violations are
      printed as they come, and the report at the end, after --duration, --count or Ctrl-C.
      Only new connections are seen whole. What that takes tells reprise help record interface;
      --keylog may name a file that still grows.

      Examples:
        reprise conform trace capture.pcap
        reprise conform trace --clause 3.8,MQTT-4.7.1-2 --strict *.pcapng
        reprise conform trace --spec rfc6455 --strict app.pcap
        reprise conform trace --client sensor-7 customer.pcap
        reprise conform trace --format json -o report.json capture.pcap
        reprise conform trace --report junit=r.xml --report sarif=r.sarif *.pcap
        reprise conform trace --write-baseline accepted.json *.pcap
        reprise conform trace --baseline accepted.json *.pcap
        reprise conform trace --joined day-*.pcapng
        reprise conform trace --shard 3/16 --format json -o 3.json captures/
        reprise conform trace --interface lo --bpf 'port 1883' --duration 10m
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    if let interface = try InterfaceOptions(live: arguments, for: spec) {
      return try ConformRun.judge(interface, arguments, console)
    }
    guard !arguments.list(.spec).contains(ProjectClauses.sdkName) else {
      throw UsageError(
        "the clauses of the SDK are judged by its scenarios, not by captures",
        "type reprise conform sdk, or leave out sdk")
    }
    return try ConformRun.judge(arguments.operands, arguments, console)
  }
}
