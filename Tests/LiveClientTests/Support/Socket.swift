import Glibc

/// A TCP socket on loopback, as plain as it gets.
final class Socket: Sendable {
  let number: Int32

  init(number: Int32) throws {
    guard number >= 0 else { throw Child.Failure(description: "no socket: error \(errno)") }
    self.number = number
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(number) }

  /// A socket that listens on a free port of 127.0.0.1.
  static func listening() throws -> (socket: Socket, port: UInt16) {
    let socket = try Socket(number: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket.number, $0, length) == 0 && listen(socket.number, 16) == 0
          && getsockname(socket.number, $0, &length) == 0
      }
    }
    guard isBound else { throw Child.Failure(description: "no free port: error \(errno)") }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  /// A port that nobody listens on, for now.
  static func freePort() throws -> UInt16 { try listening().port }

  /// Whether somebody listens on a port.
  static func answers(_ port: UInt16) throws -> Bool {
    let socket = try Socket(number: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = loopback(port)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  func accept() throws -> Socket { try Socket(number: Glibc.accept(number, nil, nil)) }

  /// Reads until there are so many bytes, or the end.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var buffer = [UInt8](repeating: 0, count: count - bytes.count)
      let got = recv(number, &buffer, buffer.count, 0)
      guard got > 0 else { break }
      bytes += buffer[..<got]
    }
    return bytes
  }

  func write(_ bytes: [UInt8]) { send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// Reads one packet of MQTT: its first byte and what follows the length.
  func readPacket() -> (first: UInt8, body: [UInt8])? {
    guard let first = read(1).first else { return nil }
    var length = 0
    var shift = 0
    while let byte = read(1).first {
      length |= Int(byte & 0x7f) << shift
      shift += 7
      if byte < 0x80 { return (first, read(length)) }
    }
    return nil
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}

/// A server on a free port that does what a test says with the connections it gets, one after
/// another.
final class ScriptedServer: Sendable {
  let port: UInt16
  private let listener: Socket

  init(_ script: @escaping @Sendable (Socket) -> Void) throws {
    let (listener, port) = try Socket.listening()
    self.listener = listener
    self.port = port
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(listener: listener, script: script))
    pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        while let socket = try? work.listener.accept() { work.script(socket) }
        return nil
      }, work.toOpaque())
    pthread_detach(thread)
  }

  deinit { shutdown(listener.number, Int32(SHUT_RDWR)) }

  private final class Work: Sendable {
    let listener: Socket
    let script: @Sendable (Socket) -> Void

    init(listener: Socket, script: @escaping @Sendable (Socket) -> Void) {
      self.listener = listener
      self.script = script
    }
  }
}
