import Glibc
import Synchronization
import TestSupport

/// A mosquitto of a test's own, on a free port of loopback, with its own configuration and
/// directory.
final class Broker: Sendable {
  let port: UInt16
  let directory: Scratch
  private let environment: [String]
  private let child: Mutex<Child?>

  /// Starts a broker and waits until it listens.
  ///
  /// The settings stand after the listener's line in its configuration, the globals before it. The environment has
  /// variables besides those of the tests, each as `NAME=value`.
  init(
    _ settings: [String] = ["allow_anonymous true"], globals: [String] = [],
    directory: Scratch? = nil, environment: [String] = []
  ) async throws {
    let directory = directory ?? Scratch()
    self.directory = directory
    self.environment = environment
    var attempts = 5
    while true {
      // Between the look for a free port and mosquitto's bind, another program may take the port.
      let port = try Socket.freePort()
      let lines =
        ["user root", "persistence_location \(directory.path)/", "log_dest stderr"] + globals
        + ["listener \(port) 127.0.0.1"] + settings
      try directory.write(lines.joined(separator: "\n") + "\n", to: "mosquitto.conf")
      do {
        child = Mutex(try await Self.listening(on: port, in: directory, environment))
        self.port = port
        return
      } catch  where attempts > 1 { attempts -= 1 }
    }
  }

  /// A broker that keeps what it has when it is stopped.
  static func persistent() async throws -> Broker {
    try await Broker(globals: ["persistence true", "max_queued_messages 100000"])
  }

  var url: String { "mqtt://127.0.0.1:\(port)" }

  /// Starts the broker, at first or again.
  func start() async throws {
    let child = try await Self.listening(on: port, in: directory, environment)
    self.child.withLock { $0 = child }
  }

  /// Starts mosquitto; it listens on all its ports and its loop has begun.
  private static func listening(
    on port: UInt16, in directory: Scratch, _ environment: [String]
  ) async throws -> Child {
    let child = try Child(
      ["env"] + environment + ["mosquitto", "-c", directory.file("mosquitto.conf")])
    try await child.wait(for: "mosquitto to run") { $0.text.contains(" running\n") }
    // Before its loop begins, mosquitto forgets a signal that ends it; the loop takes connections.
    guard let socket = try Socket.connected(to: port) else {
      throw Child.Failure(description: "nobody listens on \(port): \(child.text)")
    }
    defer { socket.shut() }
    try await child.wait(for: "a connection") { $0.text.contains("New connection from") }
    return child
  }

  /// Stops the broker; with SIGTERM it saves first what it is to keep.
  func stop(_ signal: Int32 = SIGTERM) async {
    await child.withLock { $0.take() }?.stop(signal)
  }

  /// Stops the broker where it is, or lets it go on.
  func pause(_ isPaused: Bool) { child.withLock { $0 }?.pause(isPaused) }
}
