import Glibc
import RepriseCore
import Synchronization

/// A way to a server that is cut in the middle of what goes over it, when a test says so.
final class Relay: Sendable {
  fileprivate struct Cut {
    var bytes: Int
    let isReset: Bool
  }

  fileprivate struct State {
    var cut: Cut?
    var count = 0
    var answers: [[UInt8]] = []
  }

  /// What the thread of the server shares with the test.
  private final class Shared: Sendable {
    let state = Mutex(State())
    let note: Note?

    init(_ note: Note?) { self.note = note }
  }

  /// Takes what passed on a connection, which counts from 1; nothing at its end.
  typealias Note = @Sendable (_ connection: Int, _ sender: Peer, _ bytes: [UInt8]) -> Void

  private let shared: Shared
  private let server: ScriptedServer

  init(to port: UInt16, noting note: Note? = nil) throws {
    let shared = Shared(note)
    self.shared = shared
    server = try ScriptedServer { socket in
      guard let upstream = try? Socket.connected(to: port) else { return }
      let number = shared.state.withLock { state in
        state.answers.append([])
        return state.answers.count
      }
      while Self.pass(between: socket, and: upstream, number, shared) {}
    }
  }

  var port: UInt16 { server.port }

  var url: String { "mqtt://127.0.0.1:\(port)" }

  /// How many connections were cut.
  var count: Int { shared.state.withLock { $0.count } }

  /// What the server's bytes were that passed, connection by connection.
  var answers: [[UInt8]] { shared.state.withLock { $0.answers } }

  /// Cuts the connection when so many more bytes have passed, counted over both directions.
  func cut(after bytes: Int, isReset: Bool) {
    shared.state.withLock { $0.cut = Cut(bytes: bytes, isReset: isReset) }
  }

  /// Passes on what there is; false at the end of the connection.
  private static func pass(
    between client: Socket, and server: Socket, _ number: Int, _ shared: Shared
  ) -> Bool {
    var waits = [
      pollfd(fd: client.number, events: Int16(POLLIN), revents: 0),
      pollfd(fd: server.number, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&waits, 2, -1) > 0 else { return false }
    for (wait, (from, to)) in zip(waits, [(client, server), (server, client)])
    where wait.revents != 0 {
      let bytes = from.readSome()
      shared.note?(number, from === client ? .client : .server, bytes)
      guard !bytes.isEmpty else { return false }
      let (count, cut) = shared.state.withLock { $0.take(bytes.count) }
      let passed = Array(bytes.prefix(count))
      if to === client { shared.state.withLock { $0.noteAnswer(passed) } }
      to.write(passed)
      guard let cut else { continue }
      if cut.isReset { for socket in [client, server] { socket.resetsWhenClosed() } }
      return false
    }
    return true
  }
}

extension Relay.State {
  /// How many of so many bytes may pass, and the cut if it comes now.
  fileprivate mutating func take(_ bytes: Int) -> (Int, Relay.Cut?) {
    guard let cut else { return (bytes, nil) }
    guard bytes >= cut.bytes else {
      self.cut?.bytes -= bytes
      return (bytes, nil)
    }
    self.cut = nil
    count += 1
    return (cut.bytes, cut)
  }

  fileprivate mutating func noteAnswer(_ bytes: [UInt8]) {
    guard let last = answers.indices.last else { return }
    answers[last] += bytes
  }
}

extension Socket {
  /// What there is to read, at least one byte; nothing at the end.
  fileprivate func readSome() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(number, &buffer, buffer.count, 0)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Has the connection end by RST.
  fileprivate func resetsWhenClosed() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }
}
