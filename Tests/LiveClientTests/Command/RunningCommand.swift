import Glibc
import RepriseCore
import TestSupport
import Wire

/// The built command, running, as users run it.
final class RunningCommand: Sendable {
  private let child: Child

  /// The command beside the tests' own program.
  static var path: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let program = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    return program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/reprise"
  }

  /// Starts the command.
  /// - Parameters:
  ///   - words: What is typed behind its name.
  ///   - directory: Where its files are, whose changes can be waited for.
  ///   - blocks: How many blocks of 1,024 bytes its files may have, if there is a limit.
  ///   - environment: Variables besides those of the tests, each as `NAME=value`.
  /// - Throws: What the system says when it can't be started.
  init(
    _ words: [String], in directory: Scratch, blocks: Int? = nil, environment: [String] = []
  ) throws {
    var arguments = (environment.isEmpty ? [] : ["env"] + environment) + [Self.path] + words
    if let blocks {
      arguments = ["bash", "-c", "ulimit -f \(blocks); exec \"$@\"", "bash"] + arguments
    }
    child = try Child(arguments, errorsApart: true, folder: directory)
  }

  /// Runs the command to its end.
  static func run(
    _ words: [String], in directory: Scratch, blocks: Int? = nil, environment: [String] = []
  ) async throws -> (status: Int32, output: String, errors: String) {
    let command = try RunningCommand(
      words, in: directory, blocks: blocks, environment: environment)
    return (try await command.wait(), command.text, command.errors)
  }

  /// Sends a signal and waits for the end; returns the exit status.
  func stop(_ signal: Int32) async throws -> Int32 {
    child.send(signal)
    return try await wait()
  }

  /// Waits for the end, without which there is an error; returns the exit status.
  func wait() async throws -> Int32 {
    try await child.wait(for: "its end", until: \.hasEnded)
    return await child.wait()
  }

  /// Waits until a text stands in standard output so many times; that the command ends before is an error.
  func prints(_ text: String, times: Int = 1) async throws {
    try await child.wait(for: "\(times) × '\(text)'") { $0.text.components(text) >= times }
  }

  /// Waits until a text stands in standard error so many times; that the command ends before is an error.
  func tells(_ text: String, times: Int = 1) async throws {
    try await child.wait(for: "\(times) × '\(text)'") { $0.errorText.components(text) >= times }
  }

  /// Waits until the files of its directory are as they should be; that the command ends before is an error.
  func writes(_ what: String, until isSo: @escaping @Sendable () -> Bool) async throws {
    try await child.wait(for: what) { _ in isSo() }
  }

  var hasEnded: Bool { child.hasEnded }

  /// What it wrote to standard output so far.
  var text: String { child.text }

  /// What it wrote to standard error so far.
  var errors: String { child.errors }
}

/// A recording, read back.
struct Recorded {
  let events: [Event]
  let notes: [String]

  /// Reads a file; that it is no valid recording is an error.
  init(_ path: String) throws {
    let list = try EventList(recording: Child.bytes(of: path))
    (events, notes) = (list.events, list.notes)
  }

  /// The payloads of the messages, in order.
  var payloads: [String] {
    events.compactMap { event in
      event.withView { view in
        guard case .mqtt(let packet) = view.body, packet.type == .publish else { return nil }
        return String(copying: packet.payload)
      }
    }
  }

  /// The types of the events.
  var types: [String] {
    events.map { event in
      event.withView { view in
        switch view.body {
        case .opened: "OPEN"
        case .closed(let closing): "CLOSE \(closing.how.rawValue)"
        case .attempted(let attempt): "ATTEMPT \(attempt.how.rawValue)"
        case .handshake(let handshake): "\(handshake.name)"
        case .http(let part): "\(part.name)"
        case .tls(let part): "\(part.name)"
        case .webSocket(let frame): "\(frame.opcode.name)"
        case .gap: "GAP"
        case .malformed: "MALFORMED"
        case .mqtt(let packet): "\(packet.type.name)"
        }
      }
    }
  }
}
