/// `reprise conform trace`: judges captures and recordings.
enum ConformTraceCommand: Command {
  static let spec = CommandSpec(
    name: "conform trace",
    summary: "Judges captures and recordings by clauses of MQTT and WebSocket.",
    operands: "FILE...", operandCount: 1...Int.max, options: ConformRun.options,
    details: """
      FILE is a capture (pcap or pcapng, also gzip-compressed) or a recording (.jsonl);
      - is standard input. All files together are judged in one report.

      Verdicts: passed, failed, not-followed (a SHOULD), inconclusive, not-exercised,
      not-applicable. Only failed fails the run (status 1), and only passed counts as
      passed. Where no clause had anything to judge the status is 2.

      With --client only that client's connections are reported. The others are judged as
      well, because what they publish is what it gets; the files are read twice for it.

      Examples:
        reprise conform trace capture.pcap
        reprise conform trace --clause 3.8,MQTT-4.7.1-2 --strict *.pcapng
        reprise conform trace --spec rfc6455 --strict app.pcap
        reprise conform trace --client sensor-7 customer.pcap
        reprise conform trace --format json -o report.json capture.pcap
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    try ConformRun.judge(arguments.operands, arguments, console)
  }
}
