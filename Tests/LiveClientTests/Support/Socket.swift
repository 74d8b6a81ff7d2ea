import Glibc
import Synchronization

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
    let (socket, port) = try reserved()
    guard listen(socket.number, 16) == 0 else {
      throw Child.Failure(description: "nothing to listen with: error \(errno)")
    }
    return (socket, port)
  }

  /// A port that nobody listens on, and nobody can, for as long as the socket is there.
  static func reserved() throws -> (socket: Socket, port: UInt16) {
    guard let reserve = try bound(to: 0) else {
      throw Child.Failure(description: "no free port: error \(errno)")
    }
    return reserve
  }

  /// A socket that is bound to a port of 127.0.0.1, any with 0; nil when the port is taken.
  private static func bound(to port: UInt16) throws -> (socket: Socket, port: UInt16)? {
    let socket = try Socket(number: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = loopback(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket.number, $0, length) == 0 && getsockname(socket.number, $0, &length) == 0
      }
    }
    return isBound ? (socket, UInt16(bigEndian: address.sin_port)) : nil
  }

  /// A port that nobody listens on, for now; no other test gets it.
  ///
  /// It is none that the system gives to connections that are opened, which would take it before a server does.
  static func freePort() throws -> UInt16 {
    while true {
      let port = UInt16.random(in: 10_000..<32_768)
      guard try bound(to: port) != nil else { continue }
      if givenPorts.withLock({ $0.insert(port).inserted }) { return port }
    }
  }

  private static let givenPorts = Mutex<Set<UInt16>>([])

  /// Whether somebody listens on a port.
  static func answers(_ port: UInt16) throws -> Bool { try connected(to: port) != nil }

  /// A socket that is connected to a port; nil when nobody listens.
  static func connected(to port: UInt16) throws -> Socket? {
    let socket = try Socket(number: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = loopback(port)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    return isConnected ? socket : nil
  }

  /// Ends the connection, or the listening, for whoever is in a call of it, too.
  func shut() { shutdown(number, Int32(SHUT_RDWR)) }

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

  /// Writes what the system takes at once; returns how much that is.
  func writeSome(_ bytes: ArraySlice<UInt8>) -> Int {
    max(0, bytes.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) })
  }

  /// Reads what there is at once, and returns how much that was; nil at the end.
  func readSome(_ buffer: inout [UInt8]) -> Int? {
    let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count == 0 ? nil : max(0, count)
  }

  /// Reads to the end, without blocking a thread of tasks; nil when it does not come.
  func readToEnd() async throws -> [UInt8]? {
    let (bytes, hasEnded) = try await read { _ in false }
    return hasEnded ? bytes : nil
  }

  /// Reads until there is enough, or the end, or the limit, without blocking a thread of tasks.
  func read(
    until isEnough: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws -> (bytes: [UInt8], hasEnded: Bool) {
    try await onThread { [self] in
      let limit = ContinuousClock.now.advanced(by: .seconds(waitingLimit))
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while !isEnough(bytes) {
        let left = ContinuousClock.now.duration(to: limit).components.seconds
        var wait = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard left > 0 else { return (bytes, false) }
        guard poll(&wait, 1, Int32(left) * 1_000) > 0 else { continue }
        guard let count = readSome(&buffer) else { return (bytes, true) }
        bytes += buffer[..<count]
      }
      return (bytes, false)
    }
  }

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
    try startThread { while let socket = try? listener.accept() { script(socket) } }
  }

  deinit { listener.shut() }
}

extension Socket {
  /// How many sockets of this process have one of these ports at either end.
  static func open(on ports: [UInt16]) -> Int {
    (Int32(0)..<4_096).count { file in
      let ends = [port(getsockname, of: file), port(getpeername, of: file)]
      return ends.contains { $0.map(ports.contains) ?? false }
    }
  }

  /// How many sockets of this process have a port at their own end.
  static func open(at own: UInt16) -> Int {
    (Int32(0)..<4_096).count { port(getsockname, of: $0) == own }
  }

  private static func port(
    _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32,
    of file: Int32
  ) -> UInt16? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(file, $0, &length) }
    }
    guard code == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
    return UInt16(bigEndian: address.sin_port)
  }
}
