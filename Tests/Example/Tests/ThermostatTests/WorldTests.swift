import Capture
import DeviceSDK
import Foundation
import LiveClient
import RepriseCore
import RepriseTesting
import Synchronization
import Testing
import ThermostatKit

/// The whole thermostat in each kind of world.
@Suite struct WorldTests {
  /// Runs the thermostat, and returns what it showed, without times.
  private static func run(
    _ thermostat: Thermostat, on worlds: Thermostat.Worlds, reports: Int, room: Temperature = 18.0
  ) async throws -> (lines: [String], radiator: Radiator) {
    let lines = Mutex<[String]>([])
    let radiator = Radiator(room: room)
    try await thermostat.run(on: worlds, radiator: radiator, reports: reports) { line in
      lines.withLock { $0.append(line.replacing(#/^[0-9-]+T[0-9:.]+Z /#, with: "")) }
    }
    return (lines.withLock(\.self), radiator)
  }

  /// Three hours in which Lucy wants something twice, recorded from servers in three minutes and replayed in none.
  @Test(
    .replay("night/weather", on: { try await Night.weather() }),
    .replay("night/cloud", on: { try await Night.cloud() }),
    .replay("night/family", on: { try await Night.family() }))
  func aNightOnRecordings() async throws {
    let cloud = try TestClient.named("night/cloud")
    let family = try TestClient.named("night/family")
    let start = cloud.now
    let worlds = Thermostat.Worlds(
      cloud: cloud, family: family, weather: try TestClient.named("night/weather"))
    let (lines, radiator) = try await Self.run(.patient(), on: worlds, reports: 12)
    #expect(lines == Self.night)
    #expect(radiator.target == 19.5 && radiator.room == 19.5)
    #expect(cloud.now >= start.advanced(by: .seconds(12 * 900)))
    let wishes = family.transcript.filter { $0.contains("lucy gets") && $0.contains("→") }
    #expect(wishes.count == 2)
  }

  /// What the thermostat shows in that night: Lucy's wishes come behind the third and the eighth report, and so between
  /// those that they came between.
  private static let night = [
    "the night gets as cold as -3.5 °C, the room is to have 18.0 °C",
    "the cloud wants 19.5 °C",
    "18.3 °C, on the way to 19.5 °C", "18.6 °C, on the way to 19.5 °C",
    "18.8 °C, on the way to 19.5 °C", "19.1 °C, on the way to 20.0 °C",
    "19.3 °C, on the way to 20.0 °C", "19.4 °C, on the way to 20.0 °C",
    "19.5 °C, on the way to 20.0 °C", "19.6 °C, on the way to 20.0 °C",
    "19.5 °C, on the way to 19.5 °C", "19.5 °C, on the way to 19.5 °C",
    "19.5 °C, on the way to 19.5 °C", "19.5 °C, on the way to 19.5 °C",
  ]

  /// The worlds of a capture of tcpdump: of a run on mosquitto and `reprise simulate`, with a report each second.
  private static func evening() throws -> (worlds: Thermostat.Worlds, replays: [ReplayClient]) {
    let file = Example.folder.appending(path: "Tests/ThermostatTests/Recordings/evening.pcap").path
    let options = ReplayOptions(pace: .shared(SharedTime()))
    let cloud = try ReplayClient(
      contentsOf: file, of: .client("hall&gateways"), options: options)
    let family = try ReplayClient(contentsOf: file, of: .client("thermostat"), options: options)
    let weather = try ReplayClient(contentsOf: file, of: .connection(1), options: options)
    return (.init(cloud: cloud, family: family, weather: weather), [cloud, family, weather])
  }

  @Test func anEveningInACapture() async throws {
    let (worlds, replays) = try Self.evening()
    var thermostat = try Thermostat()
    thermostat.interval = .seconds(1)
    let (lines, radiator) = try await Self.run(thermostat, on: worlds, reports: 5)
    #expect(
      lines == [
        "the night gets as cold as -3.5 °C, the room is to have 18.0 °C",
        "18.0 °C, on the way to 18.0 °C", "18.0 °C, on the way to 18.0 °C",
        "the cloud wants 19.5 °C",
        "18.3 °C, on the way to 19.5 °C", "18.6 °C, on the way to 19.5 °C",
        "18.8 °C, on the way to 19.5 °C",
      ])
    #expect(radiator.target == 19.5)
    for replay in replays { try replay.finish() }
  }

  /// In a colder room the app does something else than the capture has.
  @Test func anotherEveningIsTold() async throws {
    var thermostat = try Thermostat()
    thermostat.interval = .seconds(1)
    let error = await #expect(throws: DataClientError.self) {
      try await Self.run(thermostat, on: try Self.evening().worlds, reports: 5, room: 12.0)
    }
    #expect(error?.code == .diverged)
    let difference = "payload.params.Temperature: expected 18.0, actual 13.5"
    #expect(error?.message.contains(difference) ?? false, "\(error?.message ?? "")")
  }

  /// A day on answers that are written by hand, in which the cloud has a wish as soon as the radiator is online.
  @Test func aDayOnLocalFiles() async throws {
    let folder = Example.folder.appending(path: "Answers").path
    let worlds = Thermostat.Worlds(
      cloud: try LocalFileClient(folder: "\(folder)/cloud"),
      family: try LocalFileClient(folder: "\(folder)/family"),
      weather: try LocalFileClient(folder: "\(folder)/weather"))
    let (lines, radiator) = try await Self.run(Thermostat(), on: worlds, reports: 96)
    #expect(lines.first == "the night gets as cold as 4.5 °C, the room is to have 16.5 °C")
    #expect(lines.count == 98 && lines.contains("the cloud wants 20.0 °C"))
    #expect(radiator.room == 20.0)
    #expect(worlds.cloud.now == LocalFileClient.defaultStart.advanced(by: .seconds(96 * 900)))
  }

  @Test func theCloudCannotWantWhatNoRoomHas() async throws {
    let file = Example.folder.appending(path: "Answers/cloud/topics.json")
    let answers = try String(contentsOf: file, encoding: .utf8)
    let hot = answers.replacing(#""TargetTemperature": 20 "#, with: #""TargetTemperature": 31 "#)
    try #require(hot != answers)
    let cloud = try RecordingClient(
      LocalFileClient(files: ["topics.json": Array(hot.utf8)]), to: MemorySink())
    let (lines, radiator) = try await Self.run(Thermostat(), on: .init(cloud: cloud), reports: 1)
    #expect(lines == ["18.7 °C, on the way to 21.0 °C"] && radiator.target == 21.0)
    let recording = String(decoding: cloud.sink.bytes, as: UTF8.self)
    #expect(recording.contains(#"{\"id\":\"1\",\"code\":460,"#))
  }

  @Test(.timeLimit(.minutes(5))) func anHourOnServers() async throws {
    let servers = try await Servers.start()
    let worlds = Thermostat.Worlds(
      cloud: try ScaledTimeClient(MosquittoClient(url: servers.broker), speed: 600),
      family: try MosquittoClient(url: servers.broker),
      weather: try WebSocketClient(url: servers.weather))
    let (lines, radiator) = try await Self.run(.patient(), on: worlds, reports: 4)
    #expect(lines.first == "the night gets as cold as -3.5 °C, the room is to have 18.0 °C")
    #expect(lines.contains("the cloud wants 19.5 °C") && lines.count == 6)
    #expect(radiator.target == 19.5)
  }

  @Test(.timeLimit(.minutes(5))) func withoutABrokerItSaysSo() async throws {
    let client = try MosquittoClient(url: "mqtt://127.0.0.1:\(try Servers.freePort())")
    var thermostat = try Thermostat()
    thermostat.cloud.startTimeout = .seconds(1)
    let error = await #expect(throws: GatewayError.self) {
      try await Self.run(thermostat, on: .init(cloud: client), reports: 1)
    }
    #expect(error?.kind == .network)
    #expect(error?.message.contains("Connection refused") ?? false, "\(error?.message ?? "")")
  }
}

/// The servers of a night that is recorded, with a family in which somebody speaks.
///
/// The clients have one time, 60 times as fast from one moment on, so that what is heard on one can be told to be before
/// what is heard on another. The weather service is asked before that: its answer takes no time that matters.
private enum Night {
  private static let servers = Once { try await Servers.start() }

  static func weather() async throws -> any DataClient {
    try WebSocketClient(url: await servers.value().weather)
  }

  static func cloud() async throws -> any DataClient { try await client() }

  static func family() async throws -> any DataClient {
    try await servers.value().addLucy()
    return try await client()
  }

  private static func client() async throws -> any DataClient {
    let servers = try await servers.value()
    return try ScaledTimeClient(
      MosquittoClient(url: servers.broker), speed: 60, since: servers.start)
  }
}

/// Something that is made when it is first asked for, and once.
private actor Once<Value: Sendable> {
  private let make: @Sendable () async throws -> Value
  private var made: Task<Value, any Error>?

  init(_ make: @escaping @Sendable () async throws -> Value) {
    self.make = make
  }

  func value() async throws -> Value {
    let task = made ?? Task { [make] in try await make() }
    made = task
    return try await task.value
  }
}
