import TestSupport
import Testing

/// A running command that captures loopback, and what passes there.
struct InterfaceBench {
  let directory: Scratch
  let port: UInt16
  let command: RunningCommand
  private let listener: Socket

  /// Starts `record interface lo` and waits until it captures the connections to a port of the test's own.
  /// - Parameters:
  ///   - options: What is typed besides.
  ///   - file: What is recorded to.
  ///   - directory: Where that is; one of its own if nothing is said.
  /// - Throws: What keeps it from capturing, such as a missing right (CAP_NET_RAW), of which it tells.
  init(
    _ options: [String] = [], file: String = "a.pcapng", in directory: Scratch? = nil
  ) async throws {
    let directory = directory ?? Scratch()
    let path = directory.file(file)
    try await self.init(in: directory) { port in
      ["record", "interface", "lo", "--bpf", "tcp port \(port)", "-o", path] + options
    }
    try await command.tells("lo: note: capturing to ")
  }

  /// Starts a command, which its words are made for with the port.
  init(in directory: Scratch, _ words: (UInt16) -> [String]) async throws {
    (listener, port) = try Socket.listening()
    self.directory = directory
    command = try RunningCommand(words(port), in: directory)
  }

  /// A connection, both ends of it.
  func connected() async throws -> (client: Socket, server: Socket) {
    let client = try #require(try Socket.connected(to: port))
    return (client, try await onThread { [listener] in try listener.accept() })
  }

  func passed(_ file: String = "a.pcapng") throws -> Passed { try Passed(directory.file(file)) }

  func blocks(_ file: String = "a.pcapng") -> CaptureBlocks { CaptureBlocks(directory.file(file)) }
}
