import ConformanceKit
import Gates
import LiveClient
import RepriseCore

/// A real broker as the world of a scenario, with a gate before it that does what the cloud's steps say.
///
/// The subject's client connects to the gate. What it sends reaches the broker as it is, and what the
/// broker answers is held until a step lets it through; messages are sent to the broker by a client of
/// the cloud's own. So every event is one that the broker has made, at the time that the scenario says.
///
/// Every connection is one of the scenario's own identity and starts clean, and a retained message that
/// the cloud has sent is cleared in the end: nothing is left for the next scenario.
final class LiveWorld: ScenarioWorld {
  /// The client that the subject lives on.
  let client: any DataClient
  /// How long to wait, in the client's time, for an event that a step of the cloud makes.
  let patience: Duration?
  /// The port of the gate's address that all packets of the subject pass, and no others.
  let port: UInt16

  private let gate: BrokerGate
  private let gated: GatedClient<MosquittoClient>
  private let voice: CloudVoice

  /// Opens a world; nothing is connected yet.
  /// - Parameters:
  ///   - broker: Where the broker is, `mqtt://user:password@host:port`.
  ///   - address: Where the gate listens.
  ///   - isPassing: Whether the broker's answers pass by themselves, for a cloud with a mind of its own.
  ///   - patience: How long to wait, in the client's time, for an event; nil waits for ever.
  ///   - wrapping: Puts what the scenario wants around the subject's client: a recorder, another time.
  /// - Throws: `DataClientError` when the URL can't be read or asks for TLS, when the host is not found,
  ///   and when the system is out of ports or threads; and what `wrapping` throws.
  init(
    broker: String, address: String = "127.0.0.1", isPassing: Bool = false,
    patience: Duration? = .seconds(60),
    wrapping: (GatedClient<MosquittoClient>) throws -> any DataClient = { $0 }
  ) throws {
    gate = try BrokerGate(broker: broker, address: address, isPassing: isPassing)
    gated = GatedClient(try MosquittoClient(url: gate.url), gate: gate)
    voice = CloudVoice(try MosquittoClient(url: broker))
    client = try wrapping(gated)
    port = gate.port
    self.patience = patience
  }

  /// Does the cloud's part of one step.
  ///
  /// A `close` is done by the subject's own DISCONNECT; a cloud with a mind of its own acts by itself, once
  /// the broker's answers pass.
  /// - Parameter step: What the cloud does.
  /// - Throws: `DataClientError` when nothing is open that could be answered like that, when the broker
  ///   refuses or does not answer; and `CancellationError`.
  func perform(_ step: CloudStep) async throws {
    switch step {
    case .accept: try await gate.accept()
    case .refuse(let code): try await gate.refuse(code: code)
    case .grant(let granted): try await gate.grant(granted)
    case .acknowledge: try await gate.acknowledge()
    case .send(let message): try await voice.say(message)
    case .lose: try await gate.lose()
    case .hangUp: try await gate.hangUp()
    case .close: break
    case .frame:
      throw DataClientError(.unsupported, "a broker of MQTT sends no frames of WebSocket")
    case .act: try await gate.pass()
    }
  }

  /// Returns when all that the subject did is on the wire.
  /// - Throws: `DataClientError` when something is not.
  func settle() async throws { try gated.settle() }

  /// Closes the cloud's connection and the gate; a connection of the subject that is still open is cut.
  /// - Throws: `DataClientError` when the cloud's client could not say goodbye.
  func end() async throws {
    defer { gate.close() }
    try await voice.leave()
  }
}
