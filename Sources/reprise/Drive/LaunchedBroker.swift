import Driver
import Glibc
import LiveClient

/// A broker that a command of the user's starts, on a free port of this machine; it is stopped with the run.
final class LaunchedBroker {
  /// Where it listens.
  let port: UInt16
  /// How its clients name it.
  var url: String { "mqtt://127.0.0.1:\(port)" }
  private let process: CommandProcess
  private let command: String

  /// How long it may take until it listens.
  private static let patience = 60.0

  /// Starts a broker, and waits until it listens.
  /// - Parameter command: What a shell starts, with `{port}` in the place of the port.
  /// - Throws: ``UsageError`` where it does not start, or ends at once; ``Interrupted``.
  init(_ command: String) throws {
    guard command.contains("{port}") else {
      throw UsageError(
        "--launch '\(command)' does not say where {port} stands",
        "type such as --launch 'mosquitto -p {port}'")
    }
    // The port is free again, and will hardly be taken in the moment until the broker listens there.
    let port = try TCPSocket.listening().port
    self.port = port
    self.command = command
    process = try CommandProcess(
      CommandProcess.words(of: command.replacing("{port}", with: "\(port)")))
    try awaitListening()
  }

  deinit { stop() }

  private func awaitListening() throws {
    let end = Monotonic.seconds + Self.patience
    while Monotonic.seconds < end {
      try Interruption.check()
      guard process.isRunning else {
        throw UsageError(
          "--launch '\(command)' ended at once", "start it by hand to see what it says")
      }
      if isListening { return }
      usleep(20_000)
    }
    throw UsageError(
      "--launch '\(command)' does not listen on port \(port) of 127.0.0.1",
      "check that {port} stands where its port is told to it")
  }

  private var isListening: Bool {
    let address = try? TCPAddress.resolve("127.0.0.1", port: port).first
    return address.map { TCPSocket.answers($0, within: 200) } ?? false
  }

  /// Stops it, and what it has started.
  private func stop() {
    process.terminate()
    for _ in 0..<100 where process.isRunning { usleep(20_000) }
  }
}
