import ConformanceKit
import Glibc
import RepriseCore

/// What is to be known of a folder of recorded scenarios: its `session.json`.
struct ScenarioSession: Sendable {
  /// The file's name.
  static let name = "session.json"

  /// How many times as fast as recorded time passed for the SDK.
  var speed = 1
  /// The same for the scenarios that have a speed of their own.
  var speeds: [String: Int] = [:]
  /// The gate of each scenario, to find it in a capture of all.
  var gates: [String: Gate] = [:]

  /// Where the client of a scenario had connected to.
  struct Gate: Sendable, Hashable {
    /// The address, of IPv4.
    var address: String
    /// The port.
    var port: UInt16
  }

  /// Where the recordings of a system are, beside those of the others.
  /// - Parameters:
  ///   - system: The system.
  ///   - folder: The folder of all systems.
  /// - Returns: The path of the system's own folder.
  static func folder(of system: Scenario.System, in folder: String) -> String {
    "\(folder)/\(system.rawValue)"
  }

  /// Makes the folder of a system, if it does not exist.
  /// - Parameters:
  ///   - system: The system.
  ///   - folder: The folder of all systems, in one that exists.
  /// - Throws: ``OutputError`` when it can't be made.
  static func makeFolder(of system: Scenario.System, in folder: String) throws(OutputError) {
    for path in [folder, Self.folder(of: system, in: folder)] {
      guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
        throw OutputError(opening: path, errno)
      }
    }
  }

  /// Describes scenarios that were recorded.
  init(speed: Int) { self.speed = speed }

  /// Reads the description in a folder; without one, time passed as recorded.
  /// - Parameter folder: The folder.
  /// - Throws: ``UsageError`` when there is one that can't be read, or understood.
  init(folder: String) throws(UsageError) {
    let path = "\(folder)/\(Self.name)"
    if access(path, F_OK) != 0, errno == ENOENT { return }
    let description = JSONValue(parsing: try SmallFile.bytes(path, "--recordings"))
    guard let description, let speed = description["speed"]?.integer, speed > 0 else {
      throw UsageError(
        "\(path) does not say \"speed\", a number from 1", "record the scenarios anew")
    }
    self.speed = speed
    guard case .object(let own)? = description["speeds"] else { return }
    for member in own {
      guard let speed = member.value.integer, speed > 0 else {
        throw UsageError(
          "\(path) does not say the speed of \(member.key), a number from 1",
          "record the scenarios anew")
      }
      speeds[member.key] = speed
    }
  }

  /// How many times as fast as recorded time passed for the SDK in a scenario.
  /// - Parameter scenario: The name of the scenario.
  /// - Returns: The speed, from 1.
  func speed(of scenario: String) -> Int { speeds[scenario] ?? speed }

  /// The description as JSON, a line a scenario.
  var json: String {
    let own = Self.object(speeds.mapValues { "\($0)" })
    let gates = Self.object(gates.mapValues { "\"\($0.address):\($0.port)\"" })
    let speeds = speeds.isEmpty ? "" : "  \"speeds\": \(own),\n"
    return "{\n  \"speed\": \(speed),\n\(speeds)  \"gates\": \(gates)\n}\n"
  }

  private static func object(_ members: [String: String]) -> String {
    let rows = members.sorted { $0.key < $1.key }.map { "    \"\($0)\": \($1)" }
    return "{\n\(rows.joined(separator: ",\n"))\n  }"
  }
}
