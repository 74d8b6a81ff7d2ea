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
  /// What starts it; nil where it is not ours.
  private let command: String?
  private let rate: Int?
  private let console: Console
  /// Whether the MQTT is carried by WebSocket, whose clauses are judged as well then.
  var isWebSocket: Bool { place.isWebSocket }

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
    (self.launched, self.command) = (launched, command)
    let text = arguments.operands.first ?? launched?.url ?? ""
    let url = try BrokerOptions.url(text)
    let options = try BrokerOptions(text, arguments, console, clientID: "")
    place = try BrokerPlace(
      url, tls: BrokerOptions.tls(arguments, isSecure: url.isSecure),
      credentials: BrokerPlace.Credentials(
        username: options.connect.username, password: options.connect.password,
        authentication: ConformBrokerCommand.authentication(arguments)),
      headers: BrokerOptions.headers(arguments, isWebSocket: url.path != nil))
  }

  /// What starts a broker for a case alone; nil where the broker of the run was not started by us.
  private var own: (() throws(DriverError) -> any BrokerDriver.Own)? {
    guard let command else { return nil }
    let credentials = place.credentials
    return { () throws(DriverError) in
      do { return try OwnBroker(LaunchedBroker(command), credentials) } catch {
        throw DriverError(.unreachable, "\(error)")
      }
    }
  }

  /// Runs cases.
  /// - Parameters:
  ///   - share: What is run.
  ///   - versions: The versions that are asked for.
  /// - Returns: What came of it.
  /// - Throws: ``DriverError`` where the broker can't be driven at all.
  func run(_ share: DriveShare, in versions: Set<MQTTVersion>) throws -> DriveResults {
    let plans = share.own
    let line = StatusLine(console)
    defer { line.clear() }
    // What was begun is taken away again, which takes its time.
    Interruption.grace.store(20, ordering: .relaxed)
    var driver = BrokerDriver(
      place, run: DriveOptions.runName, application: "reprise \(Reprise.version)", rate: rate,
      own: own)
    let isStopped = { Interruption.status != nil }
    let asked = try driver.ask(versions, isStopped: isStopped)
    let results = driver.run(plans, isStopped: isStopped) { done in
      line.draw("\(done) of \(plans.count) cases")
    }
    let isWhole = !isStopped()
    line.clear()
    if let left = driver.clean() { console.note(place.name, left) }
    return share.results(asked, results, isWhole: isWhole)
  }
}

/// A broker that was started for one case.
private final class OwnBroker: BrokerDriver.Own {
  let place: BrokerPlace
  private let launched: LaunchedBroker

  init(_ launched: LaunchedBroker, _ credentials: BrokerPlace.Credentials) throws {
    self.launched = launched
    place = try BrokerPlace(
      BrokerURL(launched.url), tls: TLSOptions(), credentials: credentials)
  }
}
