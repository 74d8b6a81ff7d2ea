import Capture
import Foundation
import LiveClient
import RepriseCore
import ThermostatKit

/// The worlds of a run, with what is to be done at its end.
struct OpenWorlds {
  let worlds: Thermostat.Worlds
  /// Completes recordings, and tells of a replay whether the run was the recorded one.
  let finish: () throws -> Void
}

extension Options {
  /// Opens the worlds that are typed.
  func open() throws -> OpenWorlds {
    // What was heard on one client comes in a replay, too, before what was heard on another later.
    let shared = ReplayOptions(pace: .shared(SharedTime()))
    switch source {
    case .servers(let cloud, let family, let weather):
      return try Self.open(
        cloud: MosquittoClient(url: cloud), family: family.map { try MosquittoClient(url: $0) },
        weather: weather.map { try WebSocketClient(url: $0) }, recordedIn: recordings)
    case .recordings(let folder):
      return Self.open(
        cloud: try ReplayClient(contentsOf: "\(folder)/cloud.jsonl", options: shared),
        family: try ReplayClient(contentsOf: "\(folder)/family.jsonl", options: shared),
        weather: try ReplayClient(contentsOf: "\(folder)/weather.jsonl", options: shared))
    case .capture(let file):
      // The first connection of the app is that to the weather service, which has no client identifier.
      return Self.open(
        cloud: try ReplayClient(
          contentsOf: file, of: .client("hall&gateways"), options: shared),
        family: try ReplayClient(contentsOf: file, of: .client("thermostat"), options: shared),
        weather: try ReplayClient(contentsOf: file, of: .connection(1), options: shared))
    case .files(let folder):
      return OpenWorlds(
        worlds: Thermostat.Worlds(
          cloud: try LocalFileClient(folder: "\(folder)/cloud"),
          family: try LocalFileClient(folder: "\(folder)/family"),
          weather: try LocalFileClient(folder: "\(folder)/weather"))
      ) {}
    }
  }

  private static func open(
    cloud: MosquittoClient, family: MosquittoClient?, weather: WebSocketClient?,
    recordedIn folder: String?
  ) throws -> OpenWorlds {
    guard let folder else {
      return OpenWorlds(
        worlds: Thermostat.Worlds(cloud: cloud, family: family, weather: weather)
      ) {}
    }
    let cloud = try RecordingClient(cloud, toFile: "\(folder)/cloud.jsonl", replacing: true)
    let family = try family.map {
      try RecordingClient($0, toFile: "\(folder)/family.jsonl", replacing: true)
    }
    let weather = try weather.map {
      try RecordingClient($0, toFile: "\(folder)/weather.jsonl", replacing: true)
    }
    return OpenWorlds(
      worlds: Thermostat.Worlds(cloud: cloud, family: family, weather: weather)
    ) {
      try cloud.finish()
      try family?.finish()
      try weather?.finish()
    }
  }

  private static func open(
    cloud: ReplayClient, family: ReplayClient, weather: ReplayClient
  ) -> OpenWorlds {
    OpenWorlds(worlds: Thermostat.Worlds(cloud: cloud, family: family, weather: weather)) {
      for replay in [cloud, family, weather] { try replay.finish() }
    }
  }
}

/// Prints why the run failed, and ends the program.
func fail(_ message: String, status: Int32) -> Never {
  try? FileHandle.standardError.write(contentsOf: Data("thermostat: \(message)\n".utf8))
  exit(status)
}
