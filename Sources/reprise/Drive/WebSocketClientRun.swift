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
    // Its folder is gone at the end of the run, when nobody knows it any more.
    var place: ServedPlace?
    defer { withExtendedLifetime(place) {} }
    return try WebSocketRun.run(arguments, console, .client) {
      let command =
        arguments.operands.isEmpty ? nil : ClientCommand(words: arguments.operands, .any)
      let served = try ServedPlace(
        .webSocket, for: command.map { [$0] } ?? [], arguments, tells: console)
      place = served
      return .client(command, served.place)
    }
  }
}
