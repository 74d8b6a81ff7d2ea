import Capture
import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise record interface` as a user has it.
///
/// It takes the right to capture, CAP_NET_RAW.
@Suite struct RecordInterfaceTests {
  private let directory = Scratch()

  @Test func recordsWhatABrokerAndItsClientsSay() async throws {
    let broker = try await Broker()
    let file = directory.file("a.pcapng")
    let filter = "tcp port \(broker.port)"
    let words = ["record", "interface", "lo", "--bpf", filter, "-o", file]
    let command = try RunningCommand(words, in: directory)
    try await command.tells("lo: note: capturing to \(file)")
    let common = ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "plant/1"]
    let subscriber = try Child(
      ["stdbuf", "-oL", "mosquitto_sub", "-d", "-q", "2", "-C", "3"] + common)
    try await subscriber.wait(for: "a subscription") { $0.text.contains("Subscribed") }
    for qos in 0...2 {
      try await Child.run(["mosquitto_pub", "-q", "\(qos)", "-m", "21.\(qos)"] + common)
    }
    #expect(await subscriber.wait() == 0)
    // What passed a moment ago is not lost, though the system has not handed it on.
    #expect(try await command.stop(SIGINT) == 130)
    #expect((directory.status(of: "a.pcapng")?.st_mode ?? 0) & 0o777 == 0o600)

    let bench = CaptureBlocks(file)
    let packets = bench.packets
    #expect(command.errors.contains("note: \(packets) frames, "))
    let mqtt = ["-d", "tcp.port==\(broker.port),mqtt"]
    // A broker in a hurry puts two packets into one segment, and a line has all of a frame.
    let texts = try await directory.tshark(
      mqtt + ["-Y", "mqtt.msgtype == 3", "-T", "fields", "-e", "mqtt.topic", "-e", "mqtt.msg"])
    var messages: [String] = []
    for line in texts.split(separator: "\n") {
      let fields = line.split(separator: "\t").map { $0.split(separator: ",") }
      #expect(fields.count == 2 && fields.first?.count == fields.last?.count, "\(line)")
      for (topic, text) in zip(fields.first ?? [], fields.last ?? []) {
        messages.append("\(topic) \(text)")
      }
    }
    // From the publisher, and to the subscriber.
    let payloads = ["32312e30", "32312e31", "32312e32"].map { "plant/1 \($0)" }
    #expect(messages.sorted() == payloads.flatMap { [$0, $0] })
    #expect(
      try await directory.tshark(["-T", "fields", "-e", "frame.number"]).components("\n") == packets
    )
    // Nothing is missing, and nothing looks broken. What two processors send may be captured in another order than it was
    // sent in, of which tshark has several words; that nothing is missing shows below as well.
    let ordered = [
      "out_of_order", "lost_segment", "ack_lost_segment", "duplicate_ack", "retransmission",
      "spurious_retransmission", "fast_retransmission",
    ].map { "tcp.analysis.\($0)" }.joined(separator: " || ")
    let broken = "_ws.malformed || (tcp.analysis.flags && !(\(ordered)))"
    #expect(try await directory.tshark(mqtt + ["-Y", broken]) == "")

    let judged = try await RunningCommand.run(["conform", "trace", file], in: directory)
    #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
    let shown = try await RunningCommand.run(["inspect", file], in: directory)
    #expect(shown.errors == "")
    #expect(shown.output.components("→ PUBLISH") == 3)
    #expect(shown.output.components("← PUBLISH") == 3)
    // All four connections are whole.
    #expect(shown.output.components("CLOSE       fin") == 4)
  }

  /// What the file says of itself, and what it does not say.
  @Test func tellsWhatWasCaptured() async throws {
    let bench = try await InterfaceBench(["--snaplen", "96", "--count", "3"], in: directory)
    let before = time(nil)
    let (client, server) = try await bench.connected()
    #expect(try await bench.command.wait() == 0)
    let blocks = bench.blocks()
    #expect(blocks.all.map(\.type) == [0x0A0D_0D0A, 1, 6, 6, 6, 5])
    #expect(
      blocks.section?.text(1)
        == "reprise record interface lo --bpf 'tcp port \(bench.port)' -o "
        + "\(directory.file("a.pcapng")) --snaplen 96 --count 3")
    #expect(blocks.section?.text(4) == "Reprise 0.1.0")
    let interface = try #require(blocks.interfaces.first)
    #expect(interface.bytes.prefix(8) == [1, 0, 0, 0, 96, 0, 0, 0])
    #expect(interface.text(2) == "lo")
    #expect(interface.options[9] == [9])
    #expect(interface.text(11) == "\0tcp port \(bench.port)")
    let statistics = try #require(blocks.statistics.first)
    // Loopback counts a frame when it goes and when it comes.
    #expect(statistics.number(4) ?? 0 >= 3)
    #expect(statistics.number(5) == 0)
    #expect(statistics.number(7) == 0)
    #expect(statistics.number(8) == 3)
    var reader = try CaptureReader(path: directory.file("a.pcapng"))
    while let frame = try reader.next() {
      let time = frame.time
      let seconds = try #require(time).nanoseconds / 1_000_000_000
      #expect((Int64(before)...Int64(Glibc.time(nil))).contains(seconds))
    }
    #expect(reader.framesRead == 3)
    withExtendedLifetime((client, server)) {}
  }

  @Test func capturesSoMuchOfAFrameOnly() async throws {
    let bench = try await InterfaceBench(["--snaplen", "96"], in: directory)
    let (client, server) = try await bench.connected()
    client.write([UInt8](repeating: 7, count: 1_000))
    #expect(try await onThread { server.read(1_000).count } == 1_000)
    #expect(try await bench.command.stop(SIGTERM) == 143)
    var reader = try CaptureReader(path: directory.file("a.pcapng"))
    var cut: [[Int]] = []
    while let frame = try reader.next() {
      if frame.isCut { cut.append([frame.bytes.byteCount, frame.wireLength]) }
    }
    // A header of Ethernet, one of IP, and one of TCP with its timestamps.
    #expect(cut == [[96, 1_066]])
  }

  @Test func endsWhenItsTimeIsOver() async throws {
    let start = ContinuousClock.now
    let bench = try await InterfaceBench(["--duration", "300ms"], in: directory)
    #expect(try await bench.command.wait() == 0)
    #expect(start.duration(to: .now) >= .milliseconds(300))
    #expect(bench.blocks().all.map(\.type) == [0x0A0D_0D0A, 1, 5])
    #expect(bench.blocks().statistics.first?.number(8) == 0)
    #expect(bench.command.errors.contains("a.pcapng: note: 0 frames, 0 bytes, 0 dropped, 0 s\n"))
  }

  /// Whatever has passed is there, though nobody had the time to end the file.
  @Test func survivesItsKilling() async throws {
    let bench = try await InterfaceBench(in: directory)
    let (client, server) = try await bench.connected()
    for round in 1...3 {
      let before = directory.size(of: "a.pcapng")
      client.write([UInt8](repeating: UInt8(round), count: 5_000))
      #expect(try await onThread { server.read(5_000).count } == 5_000)
      try await bench.command.writes("what has passed") { [self] in
        directory.size(of: "a.pcapng") >= before + 5_000
      }
    }
    #expect(try await bench.command.stop(SIGKILL) == 128 + SIGKILL)
    let connection = try #require(try bench.passed().connections.first)
    #expect(
      connection.bytes[.client]
        == (1...3).flatMap { [UInt8](repeating: UInt8($0), count: 5_000) })
    let packets = bench.blocks().packets
    #expect(bench.blocks().statistics.isEmpty)
    #expect(
      try await directory.tshark(["-T", "fields", "-e", "frame.number"]).components("\n") == packets
    )
    try await Child.run(["capinfos", directory.file("a.pcapng")])
  }

  /// Makes a connection pass, in pieces that are no larger than a file has room for.
  private func pass(_ bytes: [UInt8], _ bench: InterfaceBench) async throws {
    let (client, server) = try await bench.connected()
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      client.write(Array(bytes[start..<min(start + 1_000, bytes.count)]))
      #expect(try await onThread { server.read(1_000).count } == 1_000)
    }
  }

  private func checkFiles(_ bench: InterfaceBench, _ bytes: [UInt8]) async throws -> Int {
    var names: [String] = []
    while case let name = "day-000\(names.count + 1).pcapng", directory.size(of: name) > 0 {
      names.append(name)
    }
    #expect(names.allSatisfy { directory.size(of: $0) <= 65_536 })
    // Each file is whole, and tells of its own frames only.
    for name in names {
      let blocks = bench.blocks(name)
      #expect(blocks.statistics.map { $0.number(8) } == [UInt64(blocks.packets)])
      #expect((directory.status(of: name)?.st_mode ?? 0) & 0o777 == 0o600)
    }
    // Merged, they are one capture again.
    let files = names.map { directory.file($0) }
    try await Child.run(["mergecap", "-a", "-w", directory.file("all.pcapng")] + files)
    #expect(try bench.passed("all.pcapng").connections.first?.bytes[.client] == bytes)
    return names.count
  }

  @Test func beginsOtherFiles() async throws {
    let bench = try await InterfaceBench(
      ["--rotate", "--max-size", "64K"], file: "day.pcapng", in: directory)
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) }
    try await pass(bytes, bench)
    #expect(try await bench.command.stop(SIGINT) == 130)
    #expect(try await checkFiles(bench, bytes) >= 4)
    #expect(
      bench.command.errors.contains(
        "lo: note: runs on as root, because nobody can't write the next files\n"))
  }

  @Test func endsBeforeAFileIsTooLarge() async throws {
    let bench = try await InterfaceBench(["--max-size", "8K"], in: directory)
    let (client, server) = try await bench.connected()
    while !bench.command.hasEnded {
      client.write([UInt8](repeating: 1, count: 500))
      _ = try await onThread { server.read(500) }
    }
    #expect(try await bench.command.wait() == 0)
    #expect(directory.size(of: "a.pcapng") <= 8_192)
    #expect(directory.size(of: "a.pcapng") > 7_000)
    #expect(bench.blocks().statistics.count == 1)
  }

  @Test func overwritesOnlyWhatItIsToldTo() async throws {
    try directory.write("mine", to: "a.pcapng")
    let words = ["record", "interface", "lo", "--count", "1", "--duration", "1ms"]
    let file = ["-o", directory.file("a.pcapng")]
    let refused = try await RunningCommand.run(words + file, in: directory)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("a.pcapng: it exists; name another file or add --force"))
    #expect(Child.text(of: directory.file("a.pcapng")) == "mine")
    let replaced = try await RunningCommand.run(words + file + ["--force"], in: directory)
    #expect(replaced.status == 0, "\(replaced.errors)")
    #expect(CaptureBlocks(directory.file("a.pcapng")).statistics.count == 1)
  }

  /// Each event is shown while the capture goes on.
  @Test func writesToAPipe() async throws {
    let fifo = directory.file("pipe")
    #expect(mkfifo(fifo, 0o600) == 0)
    let broker = try await Broker()
    let inspect = try Child(["bash", "-c", "exec \(RunningCommand.path) inspect - < \(fifo)"])
    let record = try Child([
      "bash", "-c",
      "exec \(RunningCommand.path) record interface lo --filter 'tcp port \(broker.port)' -o - > \(fifo)",
    ])
    try await record.wait(for: "a capture") { $0.text.contains("capturing to standard output") }
    try await Child.run([
      "mosquitto_pub", "-h", "localhost", "-p", "\(broker.port)", "-t", "a", "-m", "b",
    ])
    try await inspect.wait(for: "an event") { $0.text.contains("CLOSE       fin") }
    #expect(inspect.text.contains("→ PUBLISH     a  qos 0"))
    #expect(!record.hasEnded && !inspect.hasEnded)
    record.send(SIGINT)
    #expect(await record.wait() == 130)
    #expect(await inspect.wait() == 0)
  }
}
