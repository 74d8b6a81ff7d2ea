import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

@testable import LiveClient

/// Connections that are cut, and processes that are killed, in the middle of what they do: nothing
/// that was acknowledged is lost, and nothing of QoS 2 comes twice.
@Suite struct KillTests {
  typealias Version = MosquittoClient.Version

  /// A hundred times a sender, a receiver or their broker is cut off at a moment that chance chooses.
  @Test(arguments: Version.allCases) func losesNothingWhenConnectionsAreCut(
    _ version: Version
  ) async throws {
    var pair = try await KilledPair(version, seed: version == .v5_0 ? 5 : 311)
    while pair.kills < 100 { try await pair.round() }
    try await pair.finish()
  }

  /// What the hundred cuts are judged by, on short sessions.
  @Test(
    arguments: [
      ([[.publish]], 1), ([[.publish], [.again]], 1), ([[.publish, .release], [.again]], 2),
      ([[.publish, .release], [.release, .again, .release], [.release]], 2), ([[.release]], nil),
      ([[.publish, .cutRelease], [.again]], 1),
      ([[.publish, .cutRelease], [.release, .again]], 2),
    ] as [([[Sent]], Int?)])
  func countsWhatABrokerBegins(_ connections: [[Sent]], _ count: Int?) throws {
    let bytes = try connections.map { try $0.flatMap { try $0.bytes } }
    #expect(try ExactlyOnceWire(bytes, .v5_0).deliveries[[7]] == count)
  }

  /// What comes from a broker.
  enum Sent {
    case publish, again, release
    /// A PUBREL without its last byte, before the connection ends.
    case cutRelease

    var bytes: [UInt8] {
      get throws { try packet.encoded().dropLast(self == .cutRelease ? 1 : 0) }
    }

    private var packet: MQTTPacket {
      switch self {
      case .publish, .again:
        let message = MQTTPacket.Publish(topic: "n", payload: [7], qos: 2, packetID: 3)
        return MQTTPacket(.publish(message), version: .v5_0, dup: self == .again)
      case .release, .cutRelease:
        return MQTTPacket(.acknowledgement(.pubrel, packetID: 3, .init()), version: .v5_0)
      }
    }
  }

  /// A sender's process is killed; what it had been told to be published is there, and just once.
  @Test(arguments: Version.allCases, [QoS.atLeastOnce, .exactlyOnce])
  func losesNothingWhenTheSenderIsKilled(_ version: Version, _ qos: QoS) async throws {
    let broker = try await Broker(globals: ["max_queued_messages 100000"])
    let receiver = try await TestClient.connected(broker, version: version)
    try await receiver.subscribe("n", qos: .exactlyOnce)
    var random = SplitMix64(seed: UInt64(qos.rawValue))
    var acknowledged: Set<UInt32> = []
    var received: [UInt32] = []
    for round in 1...25 {
      let child = try Child(
        [
          Self.publisher, broker.url, version == .v5_0 ? "5.0" : "3.1.1", "\(qos.rawValue)",
          "n", "\(round * 1_000_000)",
        ])
      let size = random.int(1...2_000)
      try await child.wait(for: "\(size) bytes") { $0.hasEnded || $0.output.count >= size }
      await child.stop(SIGKILL)
      let lines = child.text.split(separator: "\n")
      let numbers = lines.compactMap { UInt32($0) }
      #expect(numbers.count == lines.count && !lines.isEmpty, "\(lines.suffix(1))")
      acknowledged.formUnion(numbers)
      // What was acknowledged has been passed on, so it stands before this.
      try await receiver.publish("n", [], qos: .exactlyOnce)
      while case let payload = try await receiver.message().payload, !payload.isEmpty {
        received.append(UInt32(String(decoding: payload, as: UTF8.self)) ?? 0)
      }
    }
    #expect(acknowledged.count > 100)
    #expect(acknowledged.subtracting(received).isEmpty)
    #expect(Set(received).count == received.count)
  }

  /// The program beside the tests' own.
  private static var publisher: String {
    let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appending(path: "live-publisher").path
  }
}

/// A sender and a receiver with sessions that are kept, each on a way to the broker that can be cut.
private struct KilledPair {
  private let version: MosquittoClient.Version
  private let broker: Broker
  private let sender: TestClient
  private let receiver: TestClient
  private let senderWay: Relay
  private let receiverWay: Relay
  private var random: SplitMix64
  private var restarts = 0

  private var sent: [[UInt8]: QoS] = [:]
  private var payloads: [ClientAction.ID: [UInt8]] = [:]
  private var acknowledged: Set<[UInt8]> = []
  private var received: [[UInt8]: Int] = [:]

  init(_ version: MosquittoClient.Version, seed: UInt64) async throws {
    self.version = version
    broker = try await .persistent()
    senderWay = try Relay(to: broker.port)
    receiverWay = try Relay(to: broker.port)
    sender = try TestClient(senderWay.url, version: version)
    receiver = try TestClient(receiverWay.url, version: version)
    random = SplitMix64(seed: seed)
    try await sender.connect(Self.options("sender"))
    try await receiver.connect(Self.options("receiver"))
    try await receiver.subscribe("n/#", qos: .exactlyOnce)
  }

  private static func options(_ name: String) -> ConnectOptions {
    ConnectOptions(clientID: name, cleanStart: false)
  }

  /// How often something was cut off.
  var kills: Int { senderWay.count + receiverWay.count + restarts }

  /// Some messages, and something that is cut off while they are on their way.
  mutating func round() async throws {
    let choice = random.int(0...9)
    if (0...4).contains(choice) {
      senderWay.cut(after: random.int(1...700), isReset: random.bool())
    }
    if (3...7).contains(choice) {
      receiverWay.cut(after: random.int(1...700), isReset: random.bool())
    }
    try await send()
    if (7...9).contains(choice) {
      // The broker goes down in the middle of it, at another place each time.
      for _ in 0..<random.int(0...10) { try await step(sender, "sender") }
      await broker.stop(SIGTERM)
      try await broker.start()
      restarts += 1
    }
    while acknowledged.count < sent.count { try await step(sender, "sender") }
    while received.count < sent.count { try await step(receiver, "receiver") }
  }

  /// No more than the 20 that mosquitto 2.0.11 has under way: it muddles more in its file.
  private mutating func send() async throws {
    for _ in 0..<15 {
      let qos = random.pick([QoS.atLeastOnce, .exactlyOnce])
      let payload = [UInt8]("\(sent.count)".utf8)
      try await send(Message(topic: "n/\(qos.rawValue)", payload: payload, qos: qos))
    }
  }

  /// Sends a message as soon as there is a connection to do so.
  private mutating func send(_ message: Message) async throws {
    while true {
      do {
        payloads[try await sender.perform(.publish(message))] = message.payload
        sent[message.payload] = message.qos
        return
      } catch let error as DataClientError where error.code == .notConnected {
        try await step(sender, "sender")
      }
    }
  }

  /// Takes an event, and connects again when it is the end.
  private mutating func step(_ client: TestClient, _ name: String) async throws {
    let event = try await client.event()
    note(event)
    guard case .closed = event else { return }
    for _ in 0..<10 {
      try await client.perform(.connect(Self.options(name)))
      // The way may be cut in the handshake too.
      guard case .connected(let answer) = try await client.event() else { continue }
      #expect(answer.isSessionPresent)
      return
    }
    throw Child.Failure(description: "the \(name) does not come back")
  }

  private mutating func note(_ event: ClientEvent) {
    switch event {
    case .published(let id): if let payload = payloads[id] { acknowledged.insert(payload) }
    case .message(let message): received[message.payload, default: 0] += 1
    default: break
    }
  }

  /// Waits for what may still come, and looks at the whole.
  mutating func finish() async throws {
    try await send(Message(topic: "n/2", payload: [], qos: .exactlyOnce))
    while !acknowledged.contains([]) { try await step(sender, "sender") }
    while received[[]] == nil { try await step(receiver, "receiver") }
    #expect(Set(received.keys) == Set(sent.keys))
    #expect(acknowledged == Set(sent.keys))
    let twice = try receivedTwice()
    #expect(twice.isEmpty, "\(twice.count) of \(sent.count)")
    #expect(senderWay.count > 20 && receiverWay.count > 20 && restarts > 20)
  }

  /// The messages of QoS 2 that came more often than the broker began to deliver them.
  ///
  /// mosquitto 2.0.11 begins some anew: when a connection is lost in the middle of the PUBRELs that
  /// it repeats, the rest of them become PUBLISH packets on the next one, which `[MQTT-4.3.3-1]`
  /// forbids. The client has released the identifiers by then and has to take those for new messages.
  private func receivedTwice() throws -> [[UInt8]: Int] {
    let wire = try ExactlyOnceWire(receiverWay.answers, version.ofPackets)
    return received.filter { payload, count in
      sent[payload] == .exactlyOnce && count > wire.deliveries[payload, default: 0]
    }
  }
}
