import Glibc
import LiveClient
import RepriseCore

/// One connection through a proxy: the client's side, the server's, and what is under way between them.
///
/// Everything in it happens on the proxy's thread, so it needs no lock.
final class ProxyConnection {
  /// Its number, from 1.
  let number: Int
  private let upstream: ProxyUpstream
  private let tap: any ProxyTap
  private let clock: LiveClock
  private var client: ProxySide
  private var server: ProxySide?
  private var socket: TCPSocket?
  /// Whether the socket leads to a server, whatever that says.
  private var isConnected = false
  private let tls: TLSClientContext?
  private var untried: ArraySlice<TCPAddress>
  /// Why the server is not there yet, for people.
  private var trouble = ""
  /// Who has broken the connection off.
  private var breaker: Peer?
  /// Whether there is nothing left to do.
  private(set) var isOver = false
  /// When to give up what is being waited for; nil when it may take its time.
  private(set) var deadline: Timestamp?

  /// How long a server has to answer, or the last bytes to be taken before a connection that is broken off, in
  /// nanoseconds.
  private static let patience: Int64 = 10_000_000_000

  /// Takes a client's connection and begins to connect to the server.
  init(
    _ number: Int, client: any ByteChannel, _ upstream: ProxyUpstream, _ tls: TLSClientContext?,
    _ tap: any ProxyTap, _ clock: LiveClock
  ) {
    self.number = number
    self.client = ProxySide(client)
    self.client.hasBegun = true
    self.upstream = upstream
    self.tls = tls
    self.tap = tap
    self.clock = clock
    untried = upstream.addresses[...]
    connect()
  }

  private func waitAWhile() {
    deadline = Timestamp(nanoseconds: clock.now.nanoseconds &+ Self.patience)
  }

  // MARK: The way to the server

  private func connect() {
    waitAWhile()
    while let address = untried.popFirst() {
      do throws(DataClientError) {
        let socket = try TCPSocket.connecting(to: address)
        self.socket = socket
        isConnected = false
        var side = ProxySide(try tls?.channel(on: socket) ?? socket)
        side.beginning = POLLOUT
        server = side
        return
      } catch {
        trouble = error.message
      }
    }
    giveUp()
  }

  private func giveUp() {
    tap.reached(number, .failed(upstream.advice(trouble)), at: clock.now)
    server = nil
    socket = nil
    breakOff(by: .server)
  }

  private func goOnConnecting() {
    guard let socket, let side = server else { return }
    if !isConnected, let problem = socket.connectionProblem() {
      trouble = problem
      return connect()
    }
    isConnected = true
    switch side.channel.begin() {
    case .wantsReading: server?.beginning = POLLIN
    case .wantsWriting: server?.beginning = POLLOUT
    case .failed(let why):
      trouble = why
      giveUp()
    case .done: noteConnected(socket, side.channel.protection)
    }
  }

  private func noteConnected(_ socket: TCPSocket, _ protection: String?) {
    server?.hasBegun = true
    deadline = nil
    guard let ends = socket.ends else {
      // It was there for a moment.
      trouble = "the connection was lost"
      return giveUp()
    }
    tap.reached(
      number, .connected(from: ends.local, to: ends.remote, by: protection), at: clock.now)
  }

  /// Gives up what has been waited for too long.
  func expire(_ now: Timestamp) {
    guard let deadline, deadline <= now, !isOver else { return }
    self.deadline = nil
    guard breaker == nil else {
      finishBreakingOff()
      return
    }
    trouble =
      (isConnected ? "no end of the TLS handshake" : "no answer")
      + " in \(Self.patience / 1_000_000_000) s"
    connect()
  }

  // MARK: Sockets

  /// What to wait for on both sides.
  func interests() -> (client: pollfd, server: pollfd) {
    let none = pollfd(fd: -1, events: 0, revents: 0)
    // Of who has broken off there is nothing to hear but just that, without end.
    let ofClient = breaker == .client ? none : client.interest(server)
    let ofServer = breaker == .server ? none : server?.interest(client)
    return (ofClient, ofServer ?? none)
  }

  /// Does what the sockets are ready for.
  /// - Parameters:
  ///   - client: What happened on the client's.
  ///   - server: What happened on the server's.
  ///   - buffer: Where to read to.
  func service(client: Int16, server: Int16, _ buffer: inout [UInt8]) {
    guard !isOver else { return }
    let readable = POLLIN | POLLHUP | POLLERR
    if Int32(server) != 0, self.server?.hasBegun == false { goOnConnecting() }
    if Int32(server) & readable != 0 { receive(from: .server, &buffer) }
    if Int32(client) & readable != 0 { receive(from: .client, &buffer) }
    repeat {
      for peer in Peer.allCases { settle(peer) }
    } while receiveMore(&buffer)
    if breaker != nil, !isOver { finishBreakingOffWhenFlushed() }
    if let server = self.server, breaker == nil, self.client.hasEnded, self.client.isFinished,
      server.hasEnded, server.isFinished
    {
      isOver = true
    }
  }

  /// Reads on where there is more than the sockets tell of.
  /// - Returns: Whether there was something, and room for it.
  private func receiveMore(_ buffer: inout [UInt8]) -> Bool {
    var hasReceived = false
    for peer in Peer.allCases {
      guard breaker == nil, !isOver, let side = self[peer], let other = self[peer.other],
        side.hasBegun, other.hasBegun, !side.hasEnded, side.channel.hasMore, other.hasRoom
      else { continue }
      receive(from: peer, &buffer)
      hasReceived = true
    }
    return hasReceived
  }

  private func receive(from peer: Peer, _ buffer: inout [UInt8]) {
    guard breaker == nil, let side = self[peer] else { return }
    switch side.channel.read(into: &buffer) {
    case .later: return
    case .bytes(let count):
      // Behind an end there is nothing; a system that says so is not believed.
      guard !side.hasEnded else { return }
      if peer == .client { note(peer, buffer[..<count]) }
      pass(buffer[..<count], to: peer.other)
    case .end:
      guard !side.hasEnded else { return }
      guard !side.isDeaf else { return breakOff(by: peer) }
      self[peer]?.hasEnded = true
      if peer == .client { tap.ended(number, by: peer, .finished, at: clock.now) }
    case .failed: breakOff(by: peer)
    }
  }

  /// Writes what can be written at once, and keeps the rest.
  private func pass(_ bytes: ArraySlice<UInt8>, to peer: Peer) {
    guard let side = self[peer], !side.isDeaf else { return }
    var rest = bytes
    if side.waiting.isEmpty, side.hasBegun {
      guard let count = side.channel.write(bytes) else { return noteDeaf(peer) }
      if peer == .client { note(.server, bytes.prefix(count)) }
      rest = bytes.dropFirst(count)
    }
    if !rest.isEmpty { self[peer]?.waiting.append(rest) }
  }

  /// Writes what waits, and behind it the end.
  private func settle(_ peer: Peer) {
    guard !isOver, let side = self[peer], side.hasBegun, breaker != peer else { return }
    if !side.waiting.isEmpty {
      guard let count = side.channel.write(side.waiting.waiting) else { return noteDeaf(peer) }
      if peer == .client { note(.server, side.waiting.waiting.prefix(count)) }
      self[peer]?.waiting.removeFirst(count)
    }
    guard breaker == nil, self[peer]?.waiting.isEmpty == true, !side.isFinished,
      self[peer.other]?.hasEnded == true
    else { return }
    let isSaid = side.channel.shutdownWriting()
    self[peer]?.isFinishing = isSaid == nil
    guard let isSaid else { return }
    self[peer]?.isFinished = true
    guard isSaid else { return noteDeaf(peer) }
    if peer == .client { tap.ended(number, by: .server, .finished, at: clock.now) }
  }

  /// Takes note that a side has broken off, by what it does not take: what it said before is still to be read.
  private func noteDeaf(_ peer: Peer) {
    self[peer]?.isDeaf = true
    self[peer]?.waiting.removeAll()
    if self[peer]?.hasEnded == true { breakOff(by: peer) }
  }

  private func note(_ sender: Peer, _ bytes: ArraySlice<UInt8>) {
    guard !bytes.isEmpty else { return }
    tap.passed(number, from: sender, bytes.span.bytes, at: clock.now)
  }

  private subscript(peer: Peer) -> ProxySide? {
    get { peer == .client ? client : server }
    set {
      if peer == .server {
        server = newValue
      } else if let newValue {
        client = newValue
      }
    }
  }

  // MARK: Breaking off

  /// Ends the connection as one end has: the other end is reset behind what was sent before.
  private func breakOff(by peer: Peer) {
    guard breaker == nil else {
      // Nobody is left to be told.
      if breaker != peer { isOver = true }
      return
    }
    breaker = peer
    self[peer]?.waiting.removeAll()
    self[peer]?.channel.breakOffWhenClosed()
    if peer == .client { tap.ended(number, by: .client, .reset, at: clock.now) }
    waitAWhile()
    finishBreakingOffWhenFlushed()
  }

  private func finishBreakingOffWhenFlushed() {
    guard let breaker else { return }
    if let side = self[breaker.other], side.hasBegun, !side.waiting.isEmpty { return }
    finishBreakingOff()
  }

  private func finishBreakingOff() {
    guard let breaker, !isOver else { return }
    if breaker == .server { tap.ended(number, by: .server, .reset, at: clock.now) }
    // The sockets go with their last references, which are those of this connection.
    self[breaker.other]?.channel.breakOffWhenClosed()
    isOver = true
  }
}
