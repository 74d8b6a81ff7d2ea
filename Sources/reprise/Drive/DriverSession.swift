import Driver
import Glibc
import LiveClient
import RepriseCore
import Synchronization
import Wire

/// One run of cases against a broker: where it is, how far it has come, and what is taken away at the end.
final class DriverSession {
  private let place: BrokerPlace
  private let launched: LaunchedBroker?
  private let rate: Int?
  private let console: Console
  /// Whether the MQTT is carried by WebSocket, whose clauses are judged as well then.
  var isWebSocket: Bool { place.isWebSocket }
  /// Whether the user ended it before all cases were run.
  private(set) var isCutShort = false

  /// Reads where the broker is, or starts it.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - console: How to tell the user.
  /// - Throws: ``UsageError``, ``DataClientError`` or ``Interrupted``.
  init(_ arguments: Arguments, _ console: Console) throws {
    self.console = console
    rate = try arguments.count(DriveOptions.rate)
    let command = arguments.value(ConformBrokerCommand.launch)
    guard (command == nil) != arguments.operands.isEmpty else {
      throw UsageError(
        command == nil ? "no broker is named" : "--launch starts the broker that the URL names too",
        "type mqtt://HOST:PORT, or --launch 'COMMAND -p {port}'")
    }
    let launched = try command.map { try LaunchedBroker($0) }
    self.launched = launched
    let text = arguments.operands.first ?? launched.map { "mqtt://127.0.0.1:\($0.port)" } ?? ""
    let url = try BrokerOptions.url(text)
    let options = try BrokerOptions(text, arguments, console, clientID: "")
    place = try BrokerPlace(
      url, tls: BrokerOptions.tls(arguments, isSecure: url.isSecure),
      credentials: BrokerPlace.Credentials(
        username: options.connect.username, password: options.connect.password),
      headers: BrokerOptions.headers(arguments, isWebSocket: url.path != nil))
  }

  /// Runs cases.
  /// - Parameters:
  ///   - plans: What is run.
  ///   - versions: The versions that are asked for.
  /// - Returns: What came of it.
  /// - Throws: ``DriverError`` where the broker can't be driven at all.
  func run(_ plans: [CasePlan], in versions: Set<MQTTVersion>) throws -> [CaseResult] {
    let line = StatusLine(console)
    defer { line.clear() }
    // What was begun is taken away again, which takes its time.
    Interruption.grace.store(20, ordering: .relaxed)
    var driver = BrokerDriver(
      place, run: DriveOptions.runName, application: "reprise \(Reprise.version)", rate: rate)
    let isStopped = { Interruption.status != nil }
    var results = try driver.ask(versions, isStopped: isStopped)
    results += driver.run(plans, isStopped: isStopped) { done in
      line.draw("\(done) of \(plans.count) cases")
    }
    isCutShort = isStopped()
    line.clear()
    if let left = driver.clean() { console.note(place.name, left) }
    try Interruption.check()
    return results
  }
}
