import Capture
import DataClient
import Testing

/// Plays the user of a capture: does what it is told to be due, while it reads to the end.
private func replay(_ client: ReplayClient) async throws -> [ClientEvent] {
  try await withThrowingTaskGroup(of: [ClientEvent].self) { group in
    group.addTask {
      var events: [ClientEvent] = []
      while events.last != .ended { events.append(try await client.next(before: nil)) }
      return events
    }
    group.addTask {
      var number: UInt32 = 0
      while let due = try await client.nextDueAction() {
        number += 1
        guard let action = due.action else { break }
        try await client.perform(ClientAction(.init(rawValue: number), action))
      }
      return []
    }
    return try await group.reduce(into: []) { $0 += $1 }
  }
}

@Suite struct ReplayCaptureTests {
  /// The connections of a capture that have MQTT packets and no holes.
  private static func connections(_ path: String) throws -> (whole: Set<Int>, broken: Set<Int>) {
    var whole: Set<Int> = []
    var broken: Set<Int> = []
    for event in try Collector.events(of: path).events {
      switch event.body {
      case .mqtt(let packet):
        whole.insert(event.context.connection)
        if packet.size > packet.bytes.count { broken.insert(event.context.connection) }
      case .gap, .malformed: broken.insert(event.context.connection)
      case .opened, .closed, .handshake, .webSocket: continue
      }
    }
    return (whole.subtracting(broken), whole.intersection(broken))
  }

  @Test(arguments: Recordings.names) func everyConnectionOfOursCanBeReplayed(
    _ name: String
  ) async throws {
    let path = Recordings.path(name)
    for connection in try Self.connections(path).whole {
      let client = try ReplayClient(contentsOf: path, of: .connection(connection))
      #expect(try await replay(client).last == .ended)
      try client.finish()
    }
  }

  @Test(arguments: SharedCaptures.names) func everyConnectionOfOthersCanBeReplayed(
    _ name: String
  ) async throws {
    let path = SharedCaptures.path(name)
    guard let connections = try? Self.connections(path) else { return }
    for connection in connections.whole.sorted().prefix(20) {
      do {
        let client = try ReplayClient(contentsOf: path, of: .connection(connection))
        _ = try await replay(client)
        try client.finish()
      } catch let error as DataClientError {
        // Some captures have one direction only.
        let isOneSided = error.message.contains("has no CONNACK")
        #expect(isOneSided, "\(name) connection \(connection): \(error)")
      }
    }
    for connection in connections.broken.sorted().prefix(5) {
      await #expect(throws: DataClientError.self) {
        try await replay(ReplayClient(contentsOf: path, of: .connection(connection)))
      }
    }
  }

  @Test func aRefusedMessageIsTold() async throws {
    let client = try ReplayClient(
      contentsOf: Recordings.path("refused-connections"), of: .client("curious-5"))
    #expect(client.capabilities.contains(.refusals))
    let events = try await replay(client)
    try client.finish()
    let failures = events.compactMap { event -> ActionFailure? in
      if case .failed(_, let failure) = event { failure } else { nil }
    }
    #expect(failures.map(\.code) == [135])
    #expect(!events.contains { if case .published = $0 { true } else { false } })
  }

  @Test func resumedSessionIsOneLife() async throws {
    let client = try ReplayClient(
      contentsOf: Recordings.path("session-resumption-v311"), of: .client("controller"))
    let events = try await replay(client)
    try client.finish()
    #expect(events.filter { if case .connected = $0 { true } else { false } }.count > 1)
  }
}
