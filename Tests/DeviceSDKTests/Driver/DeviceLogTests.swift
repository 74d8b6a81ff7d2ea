import CloudSimulator
import Foundation
import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// One log for all systems, whose level changes while they run, and its file.
@Suite struct DeviceLogTests {
  /// Keeps entries.
  private final class Entries: Sendable {
    private let entries = Mutex<[DeviceLog.Entry]>([])
    func take(_ entry: DeviceLog.Entry) { entries.withLock { $0.append(entry) } }
    var all: [DeviceLog.Entry] { entries.withLock { $0 } }
    var lines: [String] { all.map { "\($0.system) \($0.level) \($0.module): \($0.message)" } }
  }

  private static func entry(_ message: String, _ level: DeviceLog.Level = .info) -> DeviceLog.Entry
  {
    DeviceLog.Entry(
      time: ScriptedClient.start, system: .link, level: level, module: .call, message: message)
  }

  @Test func anEntryIsALine() {
    #expect("\(Self.entry("a\nb"))" == #"\#(ScriptedClient.start) info link/call a\nb"#)
  }

  // MARK: Levels

  @Test func copiesShareTheirLevels() {
    let log = DeviceLog(level: .warning, levels: [.call: .debug]) { _ in }
    let copy = log
    #expect(!copy.takes(.info, .line) && copy.takes(.debug, .call))
    log.level = .info
    log.levels[.call] = .error
    #expect(copy.takes(.info, .line) && !copy.takes(.debug, .line) && !copy.takes(.warning, .call))
    #expect(copy == log && copy != DeviceLog { _ in } && DeviceLog() == DeviceLog(level: .debug))
  }

  @Test func theLevelChangesWhileAChannelRuns() async throws {
    let entries = Entries()
    let log = DeviceLog(level: .error) { entries.take($0) }
    var configuration = try SampleChannel.configuration()
    configuration.log = log
    let client = ScriptedClient(responder: SampleChannel.cloud)
    try await withChannel(on: client, configuration: configuration) { channel in
      try await channel.start()
      #expect(entries.lines == [])
      log.level = .debug
      try await channel.publish("/a", bytes: Array("s3cret".utf8))
      log.level = .error
      try await channel.publish("/b", bytes: [])
    }
    #expect(
      entries.lines == [
        "channel debug call: → PUBLISH \(SampleChannel.up)/a, QoS 1, 6 bytes",
        "channel debug call: ← published",
      ])
    #expect(entries.all.allSatisfy { $0.time == ScriptedClient.start })
  }

  // MARK: Systems

  @Test func allSystemsTellTheirConnection() async throws {
    let entries = Entries()
    let log = DeviceLog(level: .info) { entries.take($0) }
    let broker = InProcessBroker()
    var mqtt = MQTTConfiguration(clientID: "m", password: Array("s3cret".utf8))
    mqtt.log = log
    try await withSession(on: broker.client(named: "m"), configuration: mqtt) { _ in }
    var requests = RequestConfiguration()
    requests.log = log
    try await withRequests(
      on: ScriptedClient.answering(ScriptedClient.goodAnswer), configuration: requests
    ) { connection in
      try await connection.open()
      _ = try await connection.answer(to: SampleAPI.analyze(question: "s3cret"))
    }
    var link = LinkConfiguration(appID: "app", userID: "u")
    link.log = log
    link.reconnectTimeout = .seconds(15)
    let silent = ScriptedClient { action, _ in
      if case .connect = action.kind { [.closed(.refused(code: 5))] } else { [] }
    }
    try await withLink(on: silent, configuration: link) { link in
      _ = await #expect(throws: LinkError.self) { try await link.login(token: "s3cret") }
    }
    let lines = entries.lines
    #expect(
      lines.filter { $0.hasPrefix("mqtt") } == [
        "mqtt info connection: connecting",
        "mqtt info connection: connected(isSessionPresent: false)",
        "mqtt info connection: disconnected",
      ])
    #expect(
      lines.filter { $0.hasPrefix("requests") } == [
        "requests info connection: connecting", "requests info connection: open",
        "requests info connection: closing", "requests info connection: idle",
      ])
    #expect(lines.contains { $0.hasPrefix("link error connection: message failed: ") })
    #expect(!lines.contains { $0.contains("s3cret") })
  }

  /// At every step nothing of payloads or passwords is told, whatever the system.
  @Test func everyStepTellsNoSecret() async throws {
    let entries = Entries()
    let log = DeviceLog(level: .debug) { entries.take($0) }
    var requests = RequestConfiguration()
    requests.log = log
    try await withRequests(
      on: ScriptedClient.answering(["s3cret": 1]), configuration: requests
    ) { connection in
      try await connection.open()
      _ = try await connection.answer(to: SampleAPI.analyze(question: "s3cret"))
    }
    let broker = InProcessBroker()
    var mqtt = MQTTConfiguration(clientID: "m", username: "u", password: Array("s3cret".utf8))
    mqtt.log = log
    try await withSession(on: broker.client(named: "m"), configuration: mqtt) { mqtt in
      try await mqtt.withSubscription(to: "t") { messages in
        try await mqtt.publish("t", "s3cret")
        for try await _ in messages { break }
      }
    }
    let lines = entries.lines
    #expect(lines.contains("mqtt debug subscription: → SUBSCRIBE t"))
    #expect(lines.contains("mqtt debug call: ← message on t, 6 bytes"))
    #expect(lines.contains("requests debug call: → text, 157 bytes"))
    #expect(!lines.contains { $0.contains("s3cret") })
  }

  // MARK: Files

  private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = Scratch()
    return try body(folder.path)
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func writesLinesThatNobodyCanForge() throws {
    try withFolder { folder in
      let file = try LogFile("\(folder)/a.log")
      file.write(Self.entry("closed: bye\n2027-01-15T08:00:00Z error\u{1B}[2J", .warning))
      file.write(Self.entry("é"))
      #expect(
        try text(file.path) == """
          2027-01-15T08:00:00.000000Z warning link/call closed: bye\\n2027-01-15T08:00:00Z error\\u{1B}[2J
          2027-01-15T08:00:00.000000Z info link/call é

          """)
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
  }

  @Test func goesOnInAnEmptyFileAtItsLimit() throws {
    try withFolder { folder in
      let path = "\(folder)/a.log"
      let line = Self.entry(String(repeating: "x", count: 460))
      do {
        let file = try LogFile(path, limitInKB: 1)
        file.write(line)
        #expect(file.limit == 1_024)
      }
      // Another life of the application goes on behind what is there.
      let file = try LogFile(path, limitInKB: 1)
      let size = try text(path).utf8.count
      #expect(size > 460 && 2 * size <= 1_024 && 3 * size > 1_024)
      file.write(line)
      #expect(try text(path).utf8.count == 2 * size)
      #expect(!FileManager.default.fileExists(atPath: file.pathBefore), "it fits just so")
      file.write(line)
      #expect(try text(path).utf8.count == size && text(file.pathBefore).utf8.count == 2 * size)
      for _ in 0..<5 { file.write(line) }
      #expect(try text(path).utf8.count == 2 * size && text(file.pathBefore).utf8.count == 2 * size)
      file.write(Self.entry(String(repeating: "y", count: 5_000)))
      #expect(try text(path).contains("yyy"), "a line that is larger than the file has one alone")
      #expect(file.lostEntries == 0)
    }
  }

  @Test func aLinksFileKeepsToTheSizeOfItsConfiguration() throws {
    try withFolder { folder in
      let path = "\(folder)/link.log"
      var configuration = SampleLink.configuration()
      configuration.logFileSizeInKB = 129
      try configuration.logToFile(path, level: .debug)
      #expect(configuration.log.level == .debug)
      let entry = Self.entry(String(repeating: "x", count: 33_000))
      for _ in 0..<3 { configuration.log.write(entry) }
      #expect(!FileManager.default.fileExists(atPath: path + ".1"))
      configuration.log.write(entry)
      #expect(try text(path + ".1").utf8.count == 3 * text(path).utf8.count)
    }
  }

  @Test func countsWhatCannotBeWrittenAndGoesOn() throws {
    try withFolder { folder in
      let inner = "\(folder)/gone"
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
      let file = try LogFile("\(inner)/a.log", limitInKB: 1)
      try FileManager.default.removeItem(atPath: inner)
      let line = Self.entry(String(repeating: "x", count: 900))
      for _ in 0..<3 { file.write(line) }
      #expect(file.lostEntries == 2, "the first went into the file that nobody finds any more")
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
      #expect(throws: DataClientError.self) { try LogFile("\(folder)/none/a.log") }
    }
  }
}
