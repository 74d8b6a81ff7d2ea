import Driver
import Synchronization
import Wire

/// One run of cases against a client: what starts it, or where it connects to, and how far it has come.
final class ClientSession {
  private let commands: [ClientCommand]
  private let place: ServedPlace
  private let rate: Int?
  private let console: Console

  /// Reads what starts the client, or listens for it.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - console: How to tell the user.
  /// - Throws: ``UsageError``, or ``DataClientError`` where nothing can be listened on or no certificate be made.
  init(_ arguments: Arguments, _ console: Console) throws {
    self.console = console
    rate = try arguments.count(DriveOptions.rate)
    commands = Self.commands(arguments)
    place = try ServedPlace(.broker, for: commands, arguments, tells: console)
  }

  private static func commands(_ arguments: Arguments) -> [ClientCommand] {
    let roles: [(OptionSpec, ClientCommand.Role)] = [
      (ConformClientCommand.publishes, .publishes), (ConformClientCommand.subscribes, .subscribes),
    ]
    let typed =
      arguments.operands.isEmpty ? [] : [ClientCommand(words: arguments.operands, .any)]
    return typed
      + roles.compactMap { option, role in
        arguments.value(option).map { ClientCommand(shell: $0, role) }
      }
  }

  /// Runs cases.
  /// - Parameters:
  ///   - share: What is run.
  ///   - versions: The versions that are asked for.
  /// - Returns: What came of it, and the standards to judge it by.
  /// - Throws: ``DriverError`` where the client can't be driven at all.
  func run(
    _ share: DriveShare, in versions: Set<MQTTVersion>
  ) throws -> (results: DriveResults, specs: Set<String>) {
    let line = StatusLine(console)
    defer { line.clear() }
    // What was started is ended, which takes its time.
    Interruption.grace.store(10, ordering: .relaxed)
    var driver = ClientDriver(
      commands, at: place.place, run: DriveOptions.runName,
      application: "reprise \(Reprise.version)", rate: rate)
    let isStopped = { Interruption.status != nil }
    let asked = try driver.meet(versions, isStopped: isStopped)
    let spoken = driver.versions
    let possible = share.all.filter { $0.version.map(spoken.contains) ?? true }
    let own = possible.filter(share.takes)
    let results = driver.run(own, isStopped: isStopped) { done in
      line.draw("\(done) of \(own.count) cases")
    }
    let isWhole = !isStopped()
    line.clear()
    let specs = spoken.map(\.standard) + (driver.usesWebSocket ? ["rfc6455"] : [])
    return (share.results(asked, of: possible, results, isWhole: isWhole), Set(specs))
  }
}
