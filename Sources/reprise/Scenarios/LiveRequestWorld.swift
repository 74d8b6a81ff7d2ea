import CloudSimulator
import ConformanceKit
import Gates
import LiveClient
import RepriseCore

/// A real WebSocket as the world of a scenario, with a server that does what the cloud's steps say.
///
/// There is no broker: the gate that the subject connects to is the server. Its handshakes, Close frames
/// and messages go out when a step says so, or by the mind of a simulator.
final class LiveRequestWorld: ScenarioWorld {
  /// The client that the subject lives on.
  let client: any DataClient
  /// How long to wait, in the client's time, for an event that a step of the cloud makes.
  let patience: Duration?
  /// The port of the gate's address that all packets of the subject pass, and no others.
  let port: UInt16

  private let gate: FrameGate
  private let gated: GatedClient<WebSocketClient>
  /// Whether the server has a mind of its own.
  private let isSimulated: Bool

  /// Opens a world; nothing is connected yet.
  /// - Parameters:
  ///   - address: Where the gate listens.
  ///   - isSimulated: Whether the server has a mind of its own, ``simulate(_:wrapping:body:)``.
  ///   - patience: How long to wait, in the client's time, for an event; nil waits for ever.
  ///   - wrapping: Puts what the scenario wants around the subject's client: a recorder, another time.
  /// - Throws: `DataClientError` when the system is out of ports or threads; and what `wrapping` throws.
  init(
    address: String = "127.0.0.1", isSimulated: Bool = false, patience: Duration? = .seconds(60),
    wrapping: (GatedClient<WebSocketClient>) throws -> any DataClient = { $0 }
  ) throws {
    gate = try FrameGate(address: address, isPassing: isSimulated)
    // The server agrees on no extension, and without an offer the handshake says all that it must.
    let options = WebSocketOptions(offersDeflate: false)
    gated = GatedClient(try WebSocketClient(url: gate.url, options: options), gate: gate)
    client = try wrapping(gated)
    port = gate.port
    self.patience = patience
    self.isSimulated = isSimulated
  }

  /// Runs something while a simulator is the server.
  /// - Parameters:
  ///   - script: How it behaves.
  ///   - wrapping: Puts what is wanted around the server's side: another time.
  ///   - body: What is run. It ends the world.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, and what breaks the simulator.
  func simulate<Result: Sendable>(
    _ script: RequestScript, wrapping: (any DataClient) throws -> any DataClient = { $0 },
    body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let simulator = RequestSimulator(script)
    let server = try wrapping(gate.server)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask { [gate] in
        try await simulator.run(on: server, drop: { try await gate.lose() })
        return nil
      }
      group.addTask { try await body() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  /// Does the cloud's part of one step.
  /// - Parameter step: What the cloud does.
  /// - Throws: `DataClientError` when nothing is open that could be answered like that, or when it is
  ///   nothing that a server of WebSocket does; and `CancellationError`.
  func perform(_ step: CloudStep) async throws {
    switch step {
    case .accept: try await gate.accept()
    case .lose: try await gate.lose()
    case .close: if !isSimulated { try await gate.answerClose() }
    case .frame(.text(let text)): try await gate.send(text)
    case .frame(.binary(let bytes)): try await gate.send(bytes)
    case .frame(.close(let code)): try await gate.close(code: code)
    case .frame(.refuse(let refusal)): try await gate.refuse(refusal.atGate)
    case .act: break
    case .refuse, .grant, .acknowledge, .send, .hangUp:
      throw DataClientError(.unsupported, "a server of WebSocket has no topics and no CONNACK")
    }
  }

  /// Returns when all that the subject did is on the wire.
  /// - Throws: `DataClientError` when something is not.
  func settle() async throws { try gated.settle() }

  /// Closes the gate; a connection of the subject that is still open is cut.
  func end() async throws { gate.close() }
}

extension FrameStep.Refusal {
  fileprivate var atGate: FrameGate.Refusal {
    switch self {
    case .status(let status): .status(status)
    case .wrongAccept: .wrongAccept
    case .foreignSubprotocol: .foreignSubprotocol
    }
  }
}
