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
  private let tls: ProxyTLS
  /// The client's side, where that speaks TLS.
  private let greeting: TLSChannel?
  private let ends: ProxyClient
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
    _ ends: ProxyClient, _ client: TCPSocket, _ upstream: ProxyUpstream, _ tls: ProxyTLS,
    _ tap: any ProxyTap, _ clock: LiveClock
  ) {
    number = ends.connection
    self.ends = ends
    greeting = try? tls.server?.channel(on: client)
    self.client = ProxySide(greeting ?? client)
    self.upstream = upstream
    self.tls = tls
    self.tap = tap
    self.clock = clock
    untried = upstream.addresses[...]
    guard tls.server != nil else {
      self.client.hasBegun = true
      connect()
      return
    }
    guard greeting != nil else {
      refuse("there is no memory for TLS; end other programs")
      return
    }
    self.client.beginning = POLLIN
    waitAWhile()
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
        var side = ProxySide(
          try tls.client?.channel(on: socket, offering: greeting?.offeredApplications ?? [])
            ?? socket)
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
    case .wantsAnswer: server?.beginning = 0
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
    answer()
  }

  /// Gives up what has been waited for too long.
  func expire(_ now: Timestamp) {
    guard let deadline, deadline <= now, !isOver else { return }
    self.deadline = nil
    guard breaker == nil else {
      finishBreakingOff()
      return
    }
    guard isConnecting else { return refuse("no end of the TLS handshake in \(Self.seconds) s") }
    trouble =
      (isConnected ? "no end of the TLS handshake" : "no answer")
      + " in \(Self.seconds) s"
    connect()
  }

  private static var seconds: Int64 { patience / 1_000_000_000 }

  /// Whether the server is being waited for.
  private var isConnecting: Bool { server.map { !$0.hasBegun } ?? false }

  // MARK: The client's TLS

  private func goOnGreeting() {
    guard !client.hasBegun, !isConnecting else { return }
    switch client.channel.begin() {
    case .wantsReading: client.beginning = POLLIN
    case .wantsWriting: client.beginning = POLLOUT
    case .wantsAnswer:
      // What the server chooses is what the client is to get.
      client.beginning = 0
      connect()
    case .failed(let why): refuse(why)
    case .done:
      client.hasBegun = true
      deadline = nil
      tap.reached(number, .greeted(greetingText), at: clock.now)
    }
  }

  /// Answers the client's hello, now that it is known what the server chooses.
  private func answer() {
    guard let greeting else { return }
    let application = (server?.channel as? TLSChannel)?.application ?? []
    guard tls.server?.answer(greeting, at: ends.listener, application) == true else {
      return refuse(
        "there is no certificate for the name \(greeting.askedName); ask for another one")
    }
    waitAWhile()
    goOnGreeting()
  }

  private var greetingText: String {
    guard let greeting else { return "" }
    var text = "the client speaks \(greeting.protection ?? "TLS")"
    if !greeting.askedName.isEmpty { text += ", asks for \(greeting.askedName)" }
    let application = String(decoding: greeting.application, as: UTF8.self)
    if !application.isEmpty { text += ", gets \(application)" }
    guard let subject = greeting.shownSubject else { return text }
    return text + ", and shows the certificate of \(subject), which the server does not see"
  }

  /// Gives a client up that there is no TLS with.
  private func refuse(_ why: String) {
    tap.reached(number, .failed("the client \(ends.address): \(why)"), at: clock.now)
    breakOff(by: .server)
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
    if Int32(server) != 0, isConnecting { goOnConnecting() }
    if Int32(client) != 0, !self.client.hasBegun { greet(Int32(client)) }
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

  private func greet(_ happened: Int32) {
    guard breaker == nil else { return }
    // While the server is waited for, nothing but the end of the client is news.
    if client.beginning == 0 { return breakOff(by: .client) }
    if happened != 0 { goOnGreeting() }
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
    guard breaker == nil, let side = self[peer], side.hasBegun else { return }
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
