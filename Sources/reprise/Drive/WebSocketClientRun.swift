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
      guard !arguments.operands.isEmpty else {
        throw UsageError("no client is named", "type -- and its command: -- python echo.py {url}")
      }
      let command = ClientCommand(words: arguments.operands, .any)
      guard command.has("url") || command.has("port") else {
        throw UsageError(
          "'\(command.text)' does not say where {url} stands",
          "type such as -- python echo.py {url}; {host} and {port} are its parts")
      }
      return .client(command)
    }
  }
}
