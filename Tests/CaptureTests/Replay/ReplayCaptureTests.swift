import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire
import WireDeflate

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
    for event in try EventList.events(of: path).events {
      switch event.body {
      case .mqtt(let packet):
        whole.insert(event.context.connection)
        if packet.size > packet.bytes.count { broken.insert(event.context.connection) }
      case .gap, .malformed: broken.insert(event.context.connection)
      case .opened, .closed, .attempted, .handshake, .webSocket, .http, .tls: continue
      }
    }
    return (whole.subtracting(broken), whole.intersection(broken))
  }

  @Test(arguments: PackageFolder.captured) func everyConnectionOfOursCanBeReplayed(
    _ name: String
  ) async throws {
    let path = PackageFolder.capture(name)
    for connection in try Self.connections(path).whole {
      let client = try ReplayClient(contentsOf: path, of: .connection(connection))
      #expect(try await replay(client).last == .ended)
      try client.finish()
    }
  }

  /// What was compared in captures of others.
  private struct Tally: Hashable {
    /// Captures with a connection of MQTT.
    var captures = 0
    /// Connections that were replayed to their end.
    var replayed = 0
    /// What the users of these were told: messages of the server, and that their own had arrived.
    var messages = 0
    var published = 0
    /// Connections of which the capture has one direction only.
    var oneSided = 0
    /// Connections with a hole, which are refused.
    var broken = 0

    mutating func add(_ events: [ClientEvent]) {
      replayed += 1
      for event in events {
        switch event {
        case .message: messages += 1
        case .published: published += 1
        default: continue
        }
      }
    }
  }

  @Test(.capturesOfOthers) func everyConnectionOfOthersCanBeReplayed() async throws {
    var tally = Tally()
    for name in SharedCaptures.names {
      let path = SharedCaptures.path(name)
      let connections = try Self.connections(path)
      if !connections.whole.isEmpty || !connections.broken.isEmpty { tally.captures += 1 }
      for connection in connections.whole.sorted().prefix(20) {
        do {
          let client = try ReplayClient(contentsOf: path, of: .connection(connection))
          let events = try await replay(client)
          try client.finish()
          tally.add(events)
        } catch let error as DataClientError where error.message.contains("has no CONNACK") {
          tally.oneSided += 1
        } catch {
          Issue.record("\(name) connection \(connection): \(error)")
        }
      }
      for connection in connections.broken.sorted().prefix(5) {
        tally.broken += 1
        await #expect(throws: DataClientError.self, "\(name) connection \(connection)") {
          try await replay(ReplayClient(contentsOf: path, of: .connection(connection)))
        }
      }
    }
    #expect(
      tally
        == Tally(
          captures: 50, replayed: 64, messages: 431, published: 437, oneSided: 7, broken: 9))
  }

  @Test(arguments: ["session.jsonl", "capture.pcap"])
  func aFileThatIsCutIsReplayedToTheCut(_ file: String) async throws {
    let path = PackageFolder.path("Recordings/account-bind/\(file)")
    let whole = try Data(contentsOf: URL(filePath: path))
    let cut = FileManager.default.temporaryDirectory.appending(path: "\(UUID())-\(file)")
    defer { try? FileManager.default.removeItem(at: cut) }
    try whole.prefix(whole.count / 2).write(to: cut)
    var notes: [String] = []
    let client = try ReplayClient(contentsOf: cut.path) { notes.append($0) }
    #expect(notes.count == 1 && notes[0].contains("ends inside"), "\(notes)")
    let events = try await replay(client)
    try client.finish()
    #expect(events.count > 3 && events.last == .ended)
    _ = try ReplayClient(contentsOf: path) { Issue.record("\($0)") }
  }

  /// What to type next can be typed, whatever the file is called.
  @Test func aFileWithASpaceIsQuoted() async throws {
    let path = PackageFolder.path("Recordings/account-bind/session.jsonl")
    let folder = FileManager.default.temporaryDirectory.appending(path: "it's \(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appending(path: "a b.jsonl").path
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let client = try ReplayClient(contentsOf: copy)
    #expect(throws: DataClientError.self) { try client.finish() }
    let quoted = "'\(copy.replacing("'", with: "'\\''"))'"
    #expect(client.divergence?.remedy.hasPrefix("reprise inspect \(quoted) --filter ") == true)
  }

  @Test func aRefusedMessageIsTold() async throws {
    let client = try ReplayClient(
      contentsOf: PackageFolder.capture("refused-connections"), of: .client("curious-5"))
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
      contentsOf: PackageFolder.capture("session-resumption-v311"), of: .client("controller"))
    let events = try await replay(client)
    try client.finish()
    #expect(events.filter { if case .connected = $0 { true } else { false } }.count > 1)
  }

  /// Fragments, compression and control frames between them, in segments of a few bytes.
  @Test(arguments: [3, 50, 1_460]) func messagesOfWebSocketAreWhole(pieces: Int) async throws {
    var dialogue = WebSocketDialogue(pieces: pieces)
    dialogue.open(extensions: "permessage-deflate")
    var client = WebSocketDeflater()
    var server = WebSocketDeflater()
    let question = #"{"uniqueId":2,"content":"\#(String(repeating: "ask ", count: 50))"}"#
    let answer = #"{"uniqueId":2,"content":{"ret_code":"0000"}}"#
    for _ in 0..<2 {
      let asked = client?.deflate(Array(question.utf8)) ?? []
      dialogue.send(
        .client,
        [
          WebSocketFrame(.text, Array(asked.prefix(9)), isFinal: false, reservedBits: 4),
          WebSocketFrame(.ping, []), .continuation(Array(asked.dropFirst(9))),
        ])
      let answered = server?.deflate(Array(answer.utf8)) ?? []
      dialogue.send(
        .server, [WebSocketFrame(.pong, []), WebSocketFrame(.text, answered, reservedBits: 4)])
    }
    dialogue.send(.server, [.binary([1, 2], isFinal: false), .continuation([3])])
    dialogue.send(.server, [WebSocketFrame(.close, [0x03, 0xE9])])
    dialogue.send(.client, [WebSocketFrame(.close, [0x03, 0xE9])])
    dialogue.close()
    let replayed = try ReplayClient(dialogue.tap().events)
    let events = try await replay(replayed)
    try replayed.finish()
    #expect(
      events == [
        .connected(.init()), .text(answer), .text(answer), .binary([1, 2, 3]),
        .closed(.byServer(code: nil, "the server closed the connection with code 1001")), .ended,
      ])
  }

  /// What MQTT in WebSocket says is replayed, and its frames are not.
  @Test func packetsInWebSocketAreReplayed() async throws {
    let path = PackageFolder.capture("mqtt-over-websocket")
    let connections = try Self.connections(path).whole.sorted()
    #expect(!connections.isEmpty)
    for connection in connections {
      let client = try ReplayClient(contentsOf: path, of: .connection(connection))
      #expect(client.capabilities.contains(.messages))
      #expect(try await replay(client).contains { if case .connected = $0 { true } else { false } })
      try client.finish()
    }
  }
}
