import Glibc
package import RepriseCore

/// A TCP socket that never blocks; it is closed with the last reference to it.
package final class TCPSocket: Sendable {
  /// What there was to read.
  package enum Reading {
    /// So many bytes.
    case bytes(Int)
    /// Nothing yet.
    case later
    /// The other side sends nothing any more.
    case end
    /// The connection is broken; the text is for people.
    case failed(String)
  }

  /// The file descriptor.
  package let number: Int32

  private static let kind = Int32(
    SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

  private init(_ number: Int32) { self.number = number }

  private init(family: Int32) throws(DataClientError) {
    number = socket(family, Self.kind, 0)
    guard number >= 0 else { throw Self.error("no socket could be made") }
  }

  // A socket without a number was never opened.
  deinit { if number >= 0 { Glibc.close(number) } }

  private static func error(_ what: String) -> DataClientError {
    DataClientError(.transport, "\(what): \(systemText(errno))")
  }

  // MARK: Opening

  /// Opens a socket that listens on a free port.
  /// - Parameter host: An address of this machine, of IPv4.
  /// - Returns: The socket and its port.
  /// - Throws: ``DataClientError`` when the system gives none.
  package static func listening(
    on host: String = "127.0.0.1"
  ) throws(DataClientError) -> (socket: TCPSocket, port: UInt16) {
    let listener = try TCPSocket(family: AF_INET)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
      throw DataClientError(.invalidAction, "\(host) is no address of IPv4 to listen on")
    }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener.number, $0, length) == 0 && listen(listener.number, SOMAXCONN) == 0
          && getsockname(listener.number, $0, &length) == 0
      }
    }
    guard isListening else { throw error("no port of \(host) could be opened") }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Opens a socket that listens on an address.
  /// - Parameters:
  ///   - address: The address with its port.
  ///   - sharesFamilies: Whether one of IPv6 takes connections of IPv4 as well.
  /// - Returns: The socket; nil when this computer has no such address, as where IPv6 is switched off.
  /// - Throws: ``DataClientError`` when somebody else has the address, or the user may not have it.
  package static func listening(
    at address: TCPAddress, sharesFamilies: Bool = false
  ) throws(DataClientError) -> TCPSocket? {
    guard let listener = try? TCPSocket(family: address.family) else { return nil }
    listener.reuseAddress()
    if address.family == AF_INET6 {
      var isSingle: Int32 = sharesFamilies ? 0 : 1
      _ = setsockopt(
        listener.number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isSingle,
        socklen_t(MemoryLayout<Int32>.size))
    }
    guard address.withPointer({ bind(listener.number, $0, $1) }) == 0,
      listen(listener.number, SOMAXCONN) == 0
    else {
      guard errno != EADDRNOTAVAIL else { return nil }
      throw DataClientError(.transport, systemText(errno).lowercased())
    }
    return listener
  }

  /// The address at this end; nil when there is none.
  package var localAddress: TCPAddress? { TCPAddress { getsockname(number, $0, $1) } }

  /// The address at the other end; nil when there is none any more.
  package var remoteAddress: TCPAddress? { TCPAddress { getpeername(number, $0, $1) } }

  /// As servers do: connections of the one before, which still linger, are no obstacle.
  private func reuseAddress() {
    var isOn: Int32 = 1
    _ = setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Returns why a server can't have an address, for people; nil when it can.
  /// - Parameter address: The address with its port.
  /// - Returns: The reason.
  static func problem(ofBindingTo address: TCPAddress) -> String? {
    guard let listener = try? TCPSocket(family: address.family) else { return nil }
    listener.reuseAddress()
    let code = address.withPointer { bind(listener.number, $0, $1) }
    return code == 0 ? nil : systemText(errno)
  }

  /// Takes the next connection of a socket that listens.
  /// - Returns: The connection; nil when nobody waits.
  /// - Throws: ``DataClientError`` when the system can't give it.
  package func accept() throws(DataClientError) -> TCPSocket? {
    let accepted = Glibc.accept(number, nil, nil)
    guard accepted < 0 else {
      let connection = TCPSocket(accepted)
      guard fcntl(accepted, F_SETFL, O_NONBLOCK) == 0, fcntl(accepted, F_SETFD, FD_CLOEXEC) == 0
      else { throw Self.error("a connection could not be set up") }
      connection.sendAtOnce()
      return connection
    }
    // A peer that hung up before the accept is no failure of ours.
    guard [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) else {
      throw Self.error("a connection could not be accepted")
    }
    return nil
  }

  /// Begins to connect; ``connectionProblem()`` tells of the end once the socket is writable.
  /// - Parameter address: Where to.
  /// - Returns: The socket.
  /// - Throws: ``DataClientError`` when it fails at once.
  package static func connecting(to address: TCPAddress) throws(DataClientError) -> TCPSocket {
    let connection = try TCPSocket(family: address.family)
    let code = address.withPointer { connect(connection.number, $0, $1) }
    guard code == 0 || errno == EINPROGRESS || errno == EINTR else {
      throw DataClientError(.transport, systemText(errno))
    }
    connection.sendAtOnce()
    return connection
  }

  /// Tells whether a server takes connections; waits for it.
  /// - Parameters:
  ///   - address: Where it would be.
  ///   - patience: How long to wait for its answer, in milliseconds.
  /// - Returns: Whether a connection came about, which is closed again.
  package static func answers(_ address: TCPAddress, within patience: Int32) -> Bool {
    guard let connection = try? connecting(to: address) else { return false }
    var file = pollfd(fd: connection.number, events: Int16(POLLOUT), revents: 0)
    return poll(&file, 1, patience) > 0 && connection.connectionProblem() == nil
  }

  /// Returns why a connection was not made, for people; nil when it was.
  package func connectionProblem() -> String? {
    var problem: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(number, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 else {
      return systemText(errno)
    }
    return problem == 0 ? nil : systemText(problem)
  }

  /// Sends small packets without waiting for more; a socket that can't is only slower.
  private func sendAtOnce() { switchOn(TCP_NODELAY) }

  /// Acknowledges at once what was read, so that a peer with Nagle's algorithm does not wait with the
  /// next packet (RFC 9293 sections 3.7.4 and 3.8.6.3); the system forgets it again and again.
  private func acknowledgeAtOnce() {
    #if os(Linux)
      switchOn(TCP_QUICKACK)
    #endif
  }

  private func switchOn(_ option: Int32) {
    var isOn: Int32 = 1
    _ = setsockopt(
      number, Int32(IPPROTO_TCP), option, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }

  // MARK: Reading and writing

  /// Reads what there is.
  /// - Parameter buffer: Where to put it; its size is the most that is read.
  /// - Returns: What there was.
  package func read(into buffer: inout [UInt8]) -> Reading {
    let count = recv(number, &buffer, buffer.count, 0)
    if count > 0 {
      acknowledgeAtOnce()
      return .bytes(count)
    }
    if count == 0 { return .end }
    return [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .later : .failed(systemText(errno))
  }

  /// Looks at the first byte that can be read, which stays there.
  /// - Returns: The byte; nil where there is none yet, nor ever.
  package func peek() -> UInt8? {
    var byte: UInt8 = 0
    return recv(number, &byte, 1, Int32(MSG_PEEK)) == 1 ? byte : nil
  }

  /// Writes what the system takes.
  /// - Parameter bytes: The bytes.
  /// - Returns: How many were taken; nil when the connection is broken.
  package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes {
      send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return count }
    return [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? 0 : nil
  }

  /// How many bytes were written to a connection that the other side has not acknowledged: a reset would discard them.
  /// - Parameter number: The file descriptor.
  /// - Returns: How many; 0 where the system does not say.
  package static func unacknowledged(on number: Int32) -> Int {
    var count: Int32 = 0
    return ioctl(number, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
  }

  /// Makes the closing of the socket break the connection off by RST, in place of an end in good order (RFC 9293
  /// section 3.10.5).
  package func breakOffWhenClosed() {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(
      number, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  /// Says that nothing more will be written: the other side reads the end behind all that was.
  /// - Returns: Whether the connection was there to say it on.
  package func shutdownWriting() -> Bool { shutdown(number, Int32(SHUT_WR)) == 0 }
}
