import DeviceSDK
import Foundation
import LiveClient
import RepriseCore
import Synchronization
import ThermostatKit

/// The servers of one run, on free ports of this machine: mosquitto, the cloud and the family's service on it, and the
/// weather service.
final class Servers: Sendable {
  /// Kept to the end of the tests, as a client does not hold its servers.
  private static let all = Mutex<[Servers]>([])

  /// The URL of the broker.
  let broker: String
  /// The URL of the weather service.
  let weather: String
  /// When they were ready.
  let start: Timestamp
  private let programs: [Program]

  private init(broker: String, weather: String, programs: [Program]) throws {
    self.broker = broker
    self.weather = weather
    self.programs = programs
    start = try MosquittoClient(url: broker).now
  }

  /// Starts servers.
  /// - Returns: The servers, which are ready.
  /// - Throws: What keeps them from it, such as that there is no mosquitto.
  static func start() async throws -> Servers {
    let (port, weatherPort) = (try freePort(), try freePort())
    let (broker, weather) = ("mqtt://127.0.0.1:\(port)", "ws://127.0.0.1:\(weatherPort)")
    let settings = FileManager.default.temporaryDirectory.appending(path: "thermostat-\(port).conf")
    try "listener \(port) 127.0.0.1\nallow_anonymous true\nuser root\nlog_dest stderr\n"
      .write(to: settings, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: settings) }
    let mosquitto = try Program("mosquitto", ["-c", settings.path])
    try await mosquitto.writes(" running")
    let cloud = try simulate(broker, "cloud.json")
    try await cloud.writes("SUBACK")
    let service = try simulate(weather, "weather.json")
    try await service.writes("listening")
    let servers = try Servers(
      broker: broker, weather: weather, programs: [mosquitto, cloud, service])
    all.withLock { $0.append(servers) }
    return servers
  }

  /// Runs `reprise simulate`, which is built beside the tests.
  private static func simulate(_ url: String, _ script: String) throws -> Program {
    let built = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try Program(
      built.appending(path: "reprise").path,
      ["simulate", url, "--script", Example.folder.appending(path: "Simulator/\(script)").path])
  }

  /// A port of loopback that nobody listens at.
  static func freePort() throws -> UInt16 {
    let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(handle) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(handle, pointer, length) == 0 ? getsockname(handle, pointer, &length) : -1
      }
    }
    guard result == 0 else { throw Program.Failure(description: "there is no free port") }
    return UInt16(bigEndian: address.sin_port)
  }
}

/// This package.
enum Example {
  /// Its folder.
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

extension Servers {
  /// A client of the cloud's broker.
  static func cloud() async throws -> MosquittoClient {
    try MosquittoClient(url: try await start().broker)
  }

  /// A client of the weather service.
  static func weatherService() async throws -> WebSocketClient {
    try WebSocketClient(url: try await start().weather)
  }

  /// A client of the broker of a family in which Lucy says twice that she is cold, as soon as she is greeted.
  static func familyWithLucy() async throws -> MosquittoClient {
    let broker = try await start().broker
    try await Lucy.joins(broker) { link, messages in
      _ = await messages.next()
      for _ in 0..<2 { try await link.publish("warmer", in: Family.channel) }
    }
    return try MosquittoClient(url: broker)
  }

  /// Adds Lucy to the family, who is cold behind the third report, and warm behind the eighth.
  func addLucy() async throws {
    try await Lucy.joins(broker) { link, messages in
      var reports = 0
      while let message = await messages.next() {
        guard message.text?.contains("on the way") ?? false else { continue }
        reports += 1
        if reports == 3 { try await link.publish("warmer", in: Family.channel) }
        if reports == 8 { try await link.publish("cooler", in: Family.channel) }
      }
    }
  }
}

/// One of the family.
private enum Lucy {
  /// Joins the family for as long as a body runs, in a task of her own; she listens when this returns.
  /// - Parameters:
  ///   - broker: The broker of the family.
  ///   - body: What Lucy does.
  /// - Throws: What keeps the client from being made.
  static func joins(
    _ broker: String,
    _ body:
      @escaping @Sendable (Link, inout BroadcastSequence<LinkMessage>.Iterator) async throws -> Void
  ) async throws {
    let client = try MosquittoClient(url: broker)
    let (ready, isReady) = AsyncStream<Never>.makeStream()
    Task {
      defer { isReady.finish() }
      let configuration = LinkConfiguration(appID: "thermostat", userID: "lucy")
      try await withLink(on: client, configuration: configuration) { link in
        try await link.login()
        try await link.subscribe(Family.channel, .message)
        var messages = link.messages(in: Family.channel).makeAsyncIterator()
        isReady.finish()
        try await body(link, &messages)
      }
    }
    for await _ in ready {}
  }
}

extension Thermostat {
  /// A thermostat whose time may run 600 times as fast as its servers answer.
  static func patient() throws -> Thermostat {
    var thermostat = try Thermostat()
    thermostat.cloud.startTimeout = .seconds(7_200)
    thermostat.cloud.callTimeout = .seconds(3_600)
    thermostat.cloud.connectTimeout = .seconds(3_600)
    thermostat.cloud.restoreTimeout = .seconds(3_600)
    thermostat.cloud.closeTimeout = .seconds(3_600)
    thermostat.family.reconnectTimeout = .seconds(3_600)
    thermostat.family.attemptTimeout = .seconds(3_600)
    thermostat.family.callTimeout = .seconds(3_600)
    thermostat.family.closeTimeout = .seconds(3_600)
    return thermostat
  }
}
