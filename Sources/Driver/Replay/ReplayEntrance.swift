import Glibc
package import LiveClient
import RepriseCore
package import SessionReplay

/// Where the clients of a replayed server come in, and the client that was started for it.
package struct ReplayEntrance {
  /// What TLS is answered by; nil where none is.
  let security: TLSServerContext?
  private let listener: TCPSocket
  private let process: CommandProcess?
  /// When the command was first seen to have ended.
  private var processEnd: Timestamp?

  /// Lets clients in, and starts one where there is a command.
  /// - Parameters:
  ///   - place: Where clients find the server.
  ///   - socket: What they connect to, and its port.
  ///   - command: What starts a client, which is stopped with the server; nil where clients come by themselves.
  ///   - script: The session.
  /// - Throws: ``DriverError`` where the command can't be started.
  package init(
    at place: ClientPlace, on socket: (socket: TCPSocket, port: UInt16),
    for command: ClientCommand?, _ script: SessionScript
  ) throws(DriverError) {
    (security, listener) = (place.security, socket.socket)
    let scheme = script.isHTTP ? "http" : script.isWebSocket ? "ws" : "mqtt"
    process = try command.map { (command: ClientCommand) throws(DriverError) in
      try CommandProcess(command.filled(at: place, socket.port, scheme: scheme))
    }
  }

  /// What `poll` is to be asked.
  var interest: pollfd { pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0) }

  /// Lets in who has come.
  /// - Parameters:
  ///   - events: What `poll` said, of the entrance first.
  ///   - take: Takes the socket of a client.
  func accept(_ events: ArraySlice<pollfd>, _ take: (TCPSocket) -> Void) {
    guard let first = events.first, first.revents != 0 else { return }
    while let socket = try? listener.accept() { take(socket) }
  }

  // MARK: The command

  /// Whether a client was started.
  var hasCommand: Bool { process != nil }

  /// Whether a client that was started has still to end.
  var isAwaited: Bool { process?.isRunning ?? false }

  /// Until when something of a command that has ended may still be on its way.
  /// - Parameter now: The time.
  /// - Returns: The time; nil as long as the command runs, and where there is none.
  mutating func lastArrival(_ now: Timestamp) -> Timestamp? {
    guard let process, !process.isRunning else { return nil }
    let end = processEnd ?? now
    processEnd = end
    return end.advanced(by: .milliseconds(300))
  }

  /// How the command ended, for people.
  var commandEnd: String { "the command ended with \(process?.endedBy ?? "nothing")" }

  /// Asks the command to end.
  func stop() { process?.terminate() }
}
