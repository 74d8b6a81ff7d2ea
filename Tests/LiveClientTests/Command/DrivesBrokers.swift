import TestSupport

/// Runs `reprise conform broker` in a folder of its own, on cases of its own.
protocol DrivesBrokers {
  var directory: Scratch { get }
}

extension DrivesBrokers {
  func run(_ words: [String]) async throws -> DrivenRun {
    try await DrivenRun(["broker"] + words + ["--format", "json"], in: directory)
  }

  /// Writes a case of the test's own; returns its path.
  func write(
    _ name: String, _ steps: [String], clauses: String = "MQTT-3.12.4-1", _ more: String = ""
  ) throws -> String {
    let text = """
      {"name": "\(name)", "title": "A test.", "clauses": ["\(clauses)"], \(more.isEmpty ? "" : more + ",")
       "steps": [\(steps.joined(separator: ",\n"))]}
      """
    try directory.write(text, to: "\(name).json")
    return directory.file("\(name).json")
  }
}

/// A broker of a few lines.
enum StrangeBroker {
  /// What a broker of a few lines says to what it is sent; nothing is no answer.
  static func answer(_ first: UInt8, _ body: [UInt8], flags: UInt8) -> [UInt8] {
    switch first {
    case 0x10: body.count > 6 && body[6] == 5 ? [0x20, 3, flags, 0, 0] : [0x20, 2, flags, 0]
    case 0xC0: [0xD0, 0]
    default: []
    }
  }

  /// A broker that answers CONNECT and PINGREQ, each client on a thread of its own.
  static func server(
    flags: UInt8 = 0, isDeaf: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
  ) throws -> ScriptedServer {
    try ScriptedServer { socket in
      try? startThread {
        while let (first, body) = socket.readPacket(), first != 0xE0 {
          if first == 0x10, isDeaf(body) { continue }
          socket.write(answer(first, body, flags: flags))
        }
      }
    }
  }
}
