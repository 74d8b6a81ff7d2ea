import Capture
import Glibc
import RepriseCore
import TestSupport
import Testing

/// A running `reprise record proxy`, and what stands in its file.
struct ProxyBench {
  let directory: Scratch
  let port: UInt16
  let command: RunningCommand

  /// Starts a proxy and waits until it listens.
  /// - Parameters:
  ///   - upstream: The server, as it is typed.
  ///   - options: What is typed besides.
  ///   - file: What is recorded to.
  ///   - directory: Where that is; one of its own if nothing is said.
  ///   - environment: Variables besides those of the tests, each as `NAME=value`.
  /// - Throws: What keeps it from listening.
  init(
    to upstream: String, _ options: [String] = [], file: String = "a.pcapng",
    in directory: Scratch? = nil, environment: [String] = []
  ) async throws {
    self.directory = directory ?? Scratch()
    port = try Socket.freePort()
    command = try RunningCommand(
      ["record", "proxy", "127.0.0.1:\(port)", upstream, "-o", self.directory.file(file)] + options,
      in: self.directory, environment: environment)
    try await command.tells("listening for \(upstream)")
  }

  func connected() throws -> Socket {
    try #require(try Socket.connected(to: port), "nobody listens: \(command.errors)")
  }

  func passed(_ file: String = "a.pcapng") throws -> Passed { try Passed(directory.file(file)) }
}

/// What a capture of a proxy has, connection by connection.
struct Passed {
  struct Connection {
    var bytes: [Peer: [UInt8]] = [.client: [], .server: []]
    /// What was said without bytes: `client syn`, `server fin` and so on.
    var marks: [String] = []
  }

  /// The connections by their clients' ports, in the order in which they were opened.
  private(set) var connections: [Connection] = []
  private(set) var serverPorts: Set<UInt16> = []

  /// Reads a file; what is behind a cut is not missed, anything else is an error.
  init(_ path: String) throws {
    var reader = try CaptureReader(path: path)
    var dissector = FrameDissector()
    var numbers: [UInt16: Int] = [:]
    do throws(CaptureError) {
      while let frame = try reader.next() {
        dissector.dissect(frame) { segment in
          if segment.flags == .syn {
            numbers[segment.source.port] = connections.count
            serverPorts.insert(segment.destination.port)
            connections.append(Connection())
          }
          let isClient = numbers[segment.source.port] != nil
          guard let number = numbers[isClient ? segment.source.port : segment.destination.port]
          else { return }
          let peer: Peer = isClient ? .client : .server
          for (flag, name) in [(TCPFlags.syn, "syn"), (.fin, "fin"), (.reset, "reset")]
          where segment.flags.contains(flag) {
            connections[number].marks.append("\(peer.rawValue) \(name)")
          }
          connections[number].bytes[peer]? += segment.payload.withUnsafeBytes { [UInt8]($0) }
        }
      }
    } catch {
      guard error.isCut else { throw error }
    }
  }
}

extension Socket {
  /// Reads to the end; returns what there was, and the system's error number if the connection was broken off.
  func readToBreak() async throws -> (bytes: [UInt8], code: Int32) {
    try await onThread { [self] in
      var limit = timeval(tv_sec: waitingLimit, tv_usec: 0)
      setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(number, &buffer, buffer.count, 0)
        guard count > 0 else { return (bytes, count == 0 ? 0 : errno) }
        bytes += buffer[..<count]
      }
    }
  }

  /// Says that nothing more comes.
  func finish() { shutdown(number, Int32(SHUT_WR)) }

  /// Makes its closing break the connection off.
  func resetWhenClosed() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Writes all of the bytes, without blocking a thread of tasks.
  func writeAll(_ bytes: [UInt8]) async throws {
    try await onThread { [self] in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          send(number, $0.baseAddress, min($0.count, 70_001), Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { throw Child.Failure(description: "not written: error \(errno)") }
        rest = rest.dropFirst(count)
      }
    }
  }
}
