import CloudSimulator
import RepriseCore
import TestSupport

/// The device of all examples.
let lamp = CloudDevice(productKey: "pk", deviceName: "dn")
let up = "/sys/pk/dn/app/up"
let down = "/sys/pk/dn/app/down"

func seconds(_ value: Double) -> Timestamp {
  Timestamp(nanoseconds: Int64(value * 1_000_000_000))
}

func text(_ message: Message) -> String { String(decoding: message.payload, as: UTF8.self) }

func request(_ path: String, _ payload: String) -> CloudMachine.Input {
  .received(Message(topic: up + path, payload: Array(payload.utf8), qos: .atLeastOnce))
}

extension CloudScript {
  init(_ json: String) throws { try self.init(parsing: Array(json.utf8)) }
}

extension CloudMachine {
  /// What comes out for a request, as topic and payload in lines.
  mutating func lines(_ input: Input, at now: Timestamp = seconds(0)) -> [String] {
    handle(input, now: now).map { output in
      switch output {
      case .publish(let message): "\(message.topic) \(text(message))"
      case .dropPublisher(let topic): "drop \(topic)"
      }
    }
  }
}

/// Runs a device beside a cloud, in one broker.
func withCloud<Value: Sendable>(
  _ json: String = "{}",
  body: @Sendable (Peer, SimulatedCloud, InProcessBroker) async throws -> Value
) async throws -> Value {
  let broker = InProcessBroker()
  let device = Peer(broker.client(named: "device"))
  let cloud = SimulatedCloud(try CloudScript(json), broker: broker)
  let client = broker.client(named: "cloud")
  return try await beside {
    try await cloud.run(on: client)
  } _: {
    try await device.connect("device")
    _ = try await device.client.next(before: nil)
    try await device.subscribe(down + "/#")
    _ = try await device.client.next(before: nil)
    return try await body(device, cloud, broker)
  }
}
