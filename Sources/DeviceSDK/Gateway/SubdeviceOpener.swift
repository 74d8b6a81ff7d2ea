import Synchronization

/// Opens the application's ways to sub-devices, and asks who is there.
///
/// The machine says when to open and when to give up; what came of it goes back to the machine.
final class SubdeviceOpener: Sendable {
  /// Takes what came of an opening.
  typealias Report = @Sendable (ConnectionID, Result<SubdeviceInfo, GatewayError>) -> Void

  private struct State {
    var connections: [ConnectionID: any SubdeviceConnection] = [:]
    var lastID: UInt64 = 0
    /// What ends openings that are under way, or are to begin.
    var ends: [ConnectionID: AsyncStream<Never>.Continuation] = [:]
    var report: Report?
  }

  private let state = Mutex(State())
  /// One time that a way is to be opened, with what ends it before that is done.
  private struct Opening {
    let id: ConnectionID
    let connection: any SubdeviceConnection
    let end: AsyncStream<Never>
  }

  private let openings: AsyncStream<Opening>
  private let queue: AsyncStream<Opening>.Continuation

  init() { (openings, queue) = AsyncStream.makeStream() }

  /// Says who is told what came of openings.
  func report(to report: @escaping Report) { state.withLock { $0.report = report } }

  /// Takes in a way to a sub-device.
  func add(_ connection: any SubdeviceConnection) -> ConnectionID {
    state.withLock { state in
      state.lastID += 1
      let id = ConnectionID(rawValue: state.lastID)
      state.connections[id] = connection
      return id
    }
  }

  /// Returns a way to a sub-device; nil when it was forgotten.
  func connection(_ id: ConnectionID) -> (any SubdeviceConnection)? {
    state.withLock { $0.connections[id] }
  }

  /// How many ways are kept.
  var count: Int { state.withLock { $0.connections.count } }

  // MARK: What the machine wants

  /// Asks who is there: at once when the way is open, otherwise when it has been opened.
  func open(_ id: ConnectionID) {
    guard let connection = connection(id) else {
      return report(id, .failure(GatewayError(.subdevice, "the connection was given up")))
    }
    if connection.isReady { return report(id, Self.ask(connection)) }
    let (end, ending) = AsyncStream<Never>.makeStream()
    state.withLock { $0.ends[id] = ending }
    queue.yield(Opening(id: id, connection: connection, end: end))
  }

  func giveUp(_ id: ConnectionID) {
    state.withLock { $0.ends.removeValue(forKey: id) }?.finish()
  }

  func forget(_ id: ConnectionID) {
    giveUp(id)
    state.withLock { $0.connections[id] = nil }
  }

  private func report(_ id: ConnectionID, _ result: Result<SubdeviceInfo, GatewayError>) {
    state.withLock { $0.report }?(id, result)
  }

  // MARK: Opening

  /// Opens what is to be opened, all at the same time, until the end.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await opening in openings { group.addTask { await self.openInTime(opening) } }
      group.cancelAll()
    }
  }

  /// Ends all openings.
  func finish() {
    queue.finish()
    state.withLock { state in
      state.report = nil
      state.connections = [:]
    }
  }

  private func openInTime(_ opening: Opening) async {
    let result = await withTaskGroup(of: Result<SubdeviceInfo, GatewayError>?.self) { group in
      group.addTask { await Self.open(opening.connection) }
      group.addTask {
        for await _ in opening.end {}
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    if let result { report(opening.id, result) }
  }

  private static func open(
    _ connection: any SubdeviceConnection
  ) async -> Result<SubdeviceInfo, GatewayError> {
    do {
      try await connection.open()
    } catch {
      return .failure(failure("the sub-device's connection does not open", error))
    }
    return ask(connection)
  }

  private static func ask(
    _ connection: any SubdeviceConnection
  ) -> Result<SubdeviceInfo, GatewayError> {
    do {
      return .success(try connection.info())
    } catch {
      return .failure(failure("the sub-device does not say who it is", error))
    }
  }

  private static func failure(_ text: String, _ error: any Error) -> GatewayError {
    if let error = error as? GatewayError, error.kind == .subdevice { return error }
    return GatewayError(.subdevice, "\(text): \(error)", underlying: error)
  }
}
