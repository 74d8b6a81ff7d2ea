import RepriseCore
import Testing
import Wire

@testable import LiveClient

/// A machine, its time, and what it did since somebody looked.
struct MQTTMachineBench {
  var machine: MQTTClientMachine
  var now = Timestamp(nanoseconds: 1_000_000_000_000)
  var told: [ClientEvent] = []
  var sent: [MQTTPacket] = []
  var closes = 0
  var nextID: UInt32 = 0
  let version: MQTTVersion

  init(_ version: MQTTVersion = .v3_1_1, limit: Load = Load(count: 100, bytes: 1_000_000)) {
    self.version = version
    machine = MQTTClientMachine(version: version, server: "s", limit: limit)
  }

  mutating func take(_ outputs: [MQTTClientMachine.Output]) {
    for output in outputs {
      switch output {
      case .open: continue
      case .send(let bytes): if let packet = decode(bytes) { sent.append(packet) }
      case .close: closes += 1
      case .tell(let event): told.append(event)
      }
    }
  }

  private func decode(_ bytes: [UInt8]) -> MQTTPacket? {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else { return nil }
    return MQTTPacket(MQTTPacketView(bytes.span.bytes, header: header, version: version))
  }

  @discardableResult
  mutating func perform(_ kind: ClientAction.Kind) throws(DataClientError) -> ClientAction.ID {
    nextID += 1
    let id = ClientAction.ID(rawValue: nextID)
    take(try machine.perform(ClientAction(id, kind), now: now))
    return id
  }

  mutating func receive(_ content: MQTTPacket.Content...) throws {
    for content in content {
      let bytes = try MQTTPacket(content, version: version).encoded()
      take(machine.handle(.binary(bytes), now: now))
    }
  }

  mutating func handle(_ event: ClientEvent) { take(machine.handle(event, now: now)) }

  mutating func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    handle(.deadline)
  }

  /// Connects; what was sent and told for that is forgotten.
  mutating func connect(
    _ options: ConnectOptions = ConnectOptions(clientID: "c"), present: Bool = false,
    _ properties: [MQTTProperty] = []
  ) throws {
    try perform(.connect(options))
    handle(.connected(.init()))
    (sent, told) = ([], [])
    try receive(.connack(.init(sessionPresent: present, properties: properties)))
    #expect(
      told == [
        .connected(.init(isSessionPresent: present, properties: ServerProperties(properties)))
      ])
    told = []
  }

  mutating func lose() {
    handle(.closed(.lost("gone")))
    #expect(told.last == .closed(.lost("gone")))
    (sent, told) = ([], [])
  }

  /// What the client acknowledged or released, by type and identifier.
  var exchanges: [String] {
    sent.compactMap { packet in
      switch packet.content {
      case .acknowledgement(let type, let id, _): "\(type.name) \(id)"
      case .publish(let publish): "PUBLISH \(publish.packetID)\(packet.dup ? " dup" : "")"
      default: nil
      }
    }
  }
}
