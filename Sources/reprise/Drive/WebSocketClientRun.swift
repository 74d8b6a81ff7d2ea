import Driver
import RepriseCore

/// `reprise conform client --websocket`: drives a client of WebSocket by cases, and judges what it does.
enum WebSocketClientRun {
  /// Runs the cases of clients.
  /// - Parameters:
  ///   - arguments: What was typed: the operands are the command, the options those of conform server.
  ///   - console: How to tell the user.
  /// - Returns: What the process ends with.
  /// - Throws: ``UsageError``, ``OutputError``, ``DriverError`` or ``Interrupted``.
  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    try WebSocketRun.run(arguments, console, .client) {
      let command = arguments.operands
      guard let name = command.first else {
        throw UsageError("no client is named", "type -- and its command: -- python echo.py {url}")
      }
      let places = ["{url}", "{port}"]
      guard command.contains(where: { word in places.contains { word.contains($0) } }) else {
        throw UsageError(
          "'\(command.joined(separator: " "))' does not say where {url} stands",
          "type such as -- python echo.py {url}; {host} and {port} are its parts")
      }
      return .client(name: name) { (port) throws(DriverError) in
        try StartedCommand(command.map { Self.filled($0, port) })
      }
    }
  }

  /// Puts the address into a word of the command.
  private static func filled(_ word: String, _ port: UInt16) -> String {
    word.replacing("{url}", with: "ws://127.0.0.1:\(port)/")
      .replacing("{host}", with: "127.0.0.1").replacing("{port}", with: "\(port)")
  }
}
