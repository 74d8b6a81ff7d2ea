import Glibc
import Synchronization

/// A mosquitto of a test's own, on a free port of loopback, with its own configuration and
/// directory.
final class Broker: Sendable {
  let port: UInt16
  let directory: Scratch
  private let child: Mutex<Child?>

  /// Starts a broker and waits until it listens.
  ///
  /// The settings stand after the listener's line in its configuration, the globals before it.
  init(
    _ settings: [String] = ["allow_anonymous true"], globals: [String] = [],
    directory: Scratch? = nil
  ) throws {
    let directory = try directory ?? Scratch()
    self.directory = directory
    var attempts = 5
    while true {
      // Between the look for a free port and mosquitto's bind, another program may take the port.
      let port = try Socket.freePort()
      let lines =
        ["user root", "persistence_location \(directory.path)/", "log_dest stdout"] + globals
        + ["listener \(port) 127.0.0.1"] + settings
      try directory.write(lines.joined(separator: "\n") + "\n", to: "mosquitto.conf")
      do {
        child = Mutex(try Self.listening(on: port, in: directory))
        self.port = port
        return
      } catch  where attempts > 1 { attempts -= 1 }
    }
  }

  /// A broker that keeps what it has when it is stopped.
  static func persistent() throws -> Broker {
    try Broker(globals: ["persistence true", "max_queued_messages 100000"])
  }

  deinit { stop() }

  var url: String { "mqtt://127.0.0.1:\(port)" }

  /// Starts the broker, at first or again.
  func start() throws {
    let child = try Self.listening(on: port, in: directory)
    self.child.withLock { $0 = child }
  }

  private static func listening(on port: UInt16, in directory: Scratch) throws -> Child {
    let log = directory.file("mosquitto.log")
    let child = try Child(["mosquitto", "-c", directory.file("mosquitto.conf")], output: log)
    var attempts = 0
    while try !child.hasEnded && !Socket.answers(port) && attempts < 4_000 {
      // A foreign process does not say when it listens; it is asked until it answers.
      usleep(5_000)
      attempts += 1
    }
    guard try Socket.answers(port), !child.hasEnded else {
      throw Child.Failure(description: "mosquitto does not start: \(Child.text(of: log))")
    }
    return child
  }

  /// Stops the broker; with SIGTERM it saves first what it is to keep.
  func stop(_ signal: Int32 = SIGTERM) {
    child.withLock { $0.take() }?.stop(signal)
  }

  /// Stops the broker where it is, or lets it go on.
  func pause(_ isPaused: Bool) { child.withLock { $0 }?.pause(isPaused) }
}
