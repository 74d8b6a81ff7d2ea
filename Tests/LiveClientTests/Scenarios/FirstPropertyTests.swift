import Capture
import ConformanceKit
import Glibc
import RepriseCore
import TestSupport
import Testing

@testable import reprise

/// The first property of the project: the SDK can't tell a broker, a recording and a capture apart.
@Suite struct FirstPropertyTests {
  /// Runs every scenario on a real broker, recorded and captured at the same time, and then from the
  /// recording and from the capture: the SDK's transcripts are equal, line by line.
  @Test func transcriptsAreEqualInEveryWorld() async throws {
    let suite = try ScenarioSuite.bundled()
    let broker = try await Broker()
    let folder = Scratch()
    let wire = try WireTap(folder: folder)
    try await wire.listens()
    let play = LivePlay(
      broker: broker.url, gates: try GateAddresses(from: WireTap.address), speed: 20,
      folder: folder.path, replaces: false)
    let live = try await play.run(suite.scenarios)
    try await wire.stop()

    try #require(live.count == suite.scenarios.count)
    var sessions: [Scenario.System: ScenarioSession] = [:]
    for system in Scenario.System.allCases {
      sessions[system] = try ScenarioSession(
        folder: ScenarioSession.folder(of: system, in: folder.path))
    }
    for (scenario, live) in zip(suite.scenarios, live) {
      #expect(live.outcome.findings.isEmpty, "\(scenario.name): \(live.outcome.findings)")
      let file = try ReplayClient(
        contentsOf: folder.file("\(scenario.system.rawValue)/\(scenario.name).jsonl"),
        options: ReplayWorld.options)
      let capture = try ReplayClient(
        contentsOf: wire.path,
        input: InputOptions(bpf: "host \(live.gate.address) and tcp port \(live.gate.port)"),
        options: ReplayWorld.options)
      for (world, replay) in [("file", file), ("capture", capture)] {
        let speed = try #require(sessions[scenario.system]).speed(of: scenario.name)
        let outcome = try await scenario.run(in: ReplayWorld(replay, speed: speed))
        #expect(outcome.findings.isEmpty, "\(scenario.name), \(world): \(outcome.findings)")
        #expect(outcome.transcript == live.outcome.transcript, "\(scenario.name), \(world)")
      }
    }
    #expect(live.flatMap { $0.outcome.transcript.joined() }.count > 400)
  }

  @Test func aBrokerThatIsNotThereIsOneError() async throws {
    let broker = try await Broker()
    await broker.stop()
    let play = LivePlay(
      broker: broker.url, gates: .one, speed: 20, folder: nil, replaces: false)
    let error = await #expect(throws: DataClientError.self) {
      try await play.run(ScenarioSuite.bundled().scenarios)
    }
    #expect(error?.message.hasPrefix("--broker \(broker.url): ") == true)
  }

  @Test func aCloudThatDoesNotAnswerEndsTheScenario() async throws {
    let scenario = try Scenario(
      [
        "name": "silent", "title": "", "clauses": [],
        "steps": [["call": "start"], ["cloud": "acts"], ["cloud": "acts", "events": 9]],
      ], of: .channel)
    let broker = try await Broker()
    let world = try LiveWorld(broker: broker.url, patience: .seconds(5))
    let outcome = try await scenario.run(in: world)
    let finding = try #require(outcome.findings.last)
    #expect(finding.step == 3 && finding.message.hasPrefix("no event came within 5"))
  }
}

/// A tcpdump on the loopback interface; root captures, others by `sudo -n`.
private final class WireTap: Sendable {
  /// The first of some addresses of the loopback interface that nobody else uses: all of 127.x.y.z are.
  static let address = "127.\(getpid() % 200 + 50).0.1"

  let path: String
  private let folder: Scratch
  private let child: Child

  init(folder: Scratch) throws {
    self.folder = folder
    path = folder.file("wire.pcap")
    let network = "\(Self.address.dropLast())0/16"
    let command = [
      "tcpdump", "-i", "lo", "-U", "-B", "16384", "-Z", "root", "-w", "-", "net \(network)",
    ]
    let asRoot = geteuid() == 0 ? [] : ["sudo", "-n"]
    child = try Child(asRoot + command, errorsApart: true)
  }

  /// Waits until packets are captured.
  func listens() async throws {
    try await child.wait(for: "a capture, which needs root or sudo -n") {
      $0.errorText.contains("listening on")
    }
  }

  /// Ends the capture when all packets so far have come, and writes the file.
  func stop() async throws {
    let mark = "the last packet of this capture is \(path)"
    Socket.sendDatagram(mark, to: Self.address)
    try await child.wait(for: "the last packet") {
      $0.output.suffix(4_096).contains(Array(mark.utf8))
    }
    await child.stop()
    try folder.write(child.output, to: "wire.pcap")
  }
}

extension Socket {
  /// Sends a datagram to the port that discards it, or would if there were one.
  fileprivate static func sendDatagram(_ text: String, to host: String) {
    let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(number) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(9).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bytes = Array(text.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(number, bytes, bytes.count, 0, $0, length)
      }
    }
  }
}

extension Sequence<UInt8> {
  /// Whether bytes stand in others.
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    let all = Array(self)
    guard all.count >= part.count else { return false }
    return (0...(all.count - part.count)).contains { all[$0...].starts(with: part) }
  }
}
