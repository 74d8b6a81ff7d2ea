import Capture
import Glibc
import LiveClient
import RepriseCore

/// One connection through a proxy: the client's side, the server's, and what is under way between them.
///
/// Everything in it happens on the proxy's thread, so it needs no lock.
final class ProxyConnection {
  /// Its number, from 1.
  let number: Int
  let upstream: ProxyUpstream
  let tap: any ProxyTap
  let clock: LiveClock
  var client: ProxySide
  var server: ProxySide?
  var socket: TCPSocket?
  /// Whether the socket leads to a server, whatever that says.
  var isConnected = false
  let tls: ProxyTLS
  /// The client's side, where that speaks TLS.
  let greeting: TLSChannel?
  let ends: ProxyClient
  var untried: ArraySlice<TCPAddress>
  /// Why the server is not there yet, for people.
  var trouble = ""
  private let faults: ProxyFaults
  private var streams: (ofClient: FaultyStream, ofServer: FaultyStream)
  /// The peer that has broken the connection off.
  var breaker: Peer?
  /// Whether there is nothing left to do.
  private(set) var isOver = false
  /// When to give up what is being waited for; nil when it may take its time.
  var deadline: Timestamp?

  /// When to look again whether the last bytes before a reset are taken, of which no file tells; nil where none are waited
  /// for.
  private var nextLook: Timestamp?
  /// How often that is looked at, in nanoseconds.
  private static let pace: Int64 = 5_000_000

  /// How long a server has to answer, or the last bytes to be taken before a connection that is broken off, in
  /// nanoseconds.
  static let patience: Int64 = 10_000_000_000

  /// Takes a client's connection and begins to connect to the server.
  init(
    _ ends: ProxyClient, _ client: TCPSocket, _ upstream: ProxyUpstream, _ tls: ProxyTLS,
    _ faults: ProxyFaults, _ tap: any ProxyTap, _ clock: LiveClock
  ) {
    self.faults = faults
    streams = (FaultyStream(faults[.client]), FaultyStream(faults[.server]))
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

  /// When there is something to do, whatever comes until then.
  var wakeTime: Timestamp? {
    [deadline, nextLook, client.held.due, server?.held.due].compactMap { $0 }.min()
  }

  func waitAWhile() {
    deadline = Timestamp(nanoseconds: clock.now.nanoseconds &+ Self.patience)
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
    release()
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

  func greet(_ happened: Int32) {
    guard breaker == nil else { return }
    // While the server is waited for, nothing but the end of the client is news.
    if client.beginning == 0 { return breakOff(by: .client) }
    if happened != 0 { goOnGreeting() }
  }

  /// Reads on where there is more than the sockets tell of.
  /// - Returns: Whether there was something, and room for it.
  func receiveMore(_ buffer: inout [UInt8]) -> Bool {
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

  func receive(from peer: Peer, _ buffer: inout [UInt8]) {
    guard breaker == nil, let side = self[peer], side.hasBegun else { return }
    switch side.channel.read(into: &buffer) {
    case .later: return
    case .bytes(let count):
      // Behind an end there is nothing; a system that says so is not believed.
      guard !side.hasEnded else { return }
      let outcome =
        peer == .client
        ? streams.ofClient.spoil(&buffer, count) : streams.ofServer.spoil(&buffer, count)
      let bytes = buffer[..<outcome.passed]
      // What waits in front of it is told as altered as well, which makes nothing of it stronger.
      if let comment = outcome.comment(peer) { tap.altered(number, of: [peer], comment) }
      if peer == .client { note(peer, bytes) }
      hand(bytes, breaks: outcome.breaks, from: peer)
    case .end:
      guard !side.hasEnded else { return }
      guard !side.isDeaf else { return breakOff(by: peer) }
      self[peer]?.hasEnded = true
      if peer == .client { tap.ended(number, by: peer, .finished, at: clock.now) }
    case .failed(let why):
      // In TLS 1.3 a server refuses a client's certificate, or its lack, behind a handshake that the client takes for done.
      if peer == .server, let refusal = upstream.refusal(why) {
        tap.reached(number, .failed(refusal), at: clock.now)
      }
      breakOff(by: peer)
    }
  }

  /// Passes bytes on, at once or when they have been held as long as they are to be.
  private func hand(_ bytes: ArraySlice<UInt8>, breaks: Bool, from peer: Peer) {
    let delay = faults[peer].delay
    guard delay == 0 else {
      let due = Timestamp(nanoseconds: clock.now.nanoseconds &+ delay)
      self[peer.other]?.held.append(HeldBytes.Piece(due: due, bytes: Array(bytes), breaks: breaks))
      return
    }
    pass(bytes, to: peer.other)
    if breaks { breakOff(behind: peer) }
  }

  /// Passes on what has been held long enough.
  private func release() {
    for peer in Peer.allCases {
      while !isOver, let piece = self[peer]?.held.next(clock.now) {
        pass(piece.bytes[...], to: peer)
        if piece.breaks { breakOff(behind: peer.other) }
      }
    }
  }

  /// Writes what can be written at once, and keeps the rest.
  func pass(_ bytes: ArraySlice<UInt8>, to peer: Peer) {
    guard let side = self[peer], !side.isDeaf else { return }
    var rest = bytes
    if side.waiting.isEmpty, side.hasBegun {
      guard let count = write(bytes, to: side, peer) else { return noteDeaf(peer) }
      rest = bytes.dropFirst(count)
    }
    if !rest.isEmpty { self[peer]?.waiting.append(rest) }
  }

  /// Writes what is taken at once, in pieces that are as large as they may be.
  /// - Returns: How many bytes that is; nil when the side takes nothing any more.
  private func write(_ bytes: ArraySlice<UInt8>, to side: ProxySide, _ peer: Peer) -> Int? {
    let size = faults[peer.other].pieceSize
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(size)
      guard let count = side.channel.write(piece) else { return nil }
      if peer == .client { note(.server, piece.prefix(count)) }
      rest = rest.dropFirst(count)
      // A socket that has just said how much it takes is not asked again.
      if count < piece.count || size == .max { break }
    }
    return bytes.count - rest.count
  }

  /// Writes what waits, and behind it the end.
  func settle(_ peer: Peer) {
    guard !isOver, let side = self[peer], side.hasBegun, breaker != peer else { return }
    if !side.waiting.isEmpty {
      guard let count = write(side.waiting.waiting, to: side, peer) else { return noteDeaf(peer) }
      self[peer]?.waiting.removeFirst(count)
    }
    guard breaker == nil, self[peer]?.waiting.isEmpty == true, side.held.isEmpty, !side.isFinished,
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
  func noteDeaf(_ peer: Peer) {
    self[peer]?.isDeaf = true
    self[peer]?.waiting.removeAll()
    if self[peer]?.hasEnded == true { breakOff(by: peer) }
  }

  func note(_ sender: Peer, _ bytes: ArraySlice<UInt8>) {
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
  func breakOff(by peer: Peer) {
    guard breaker == nil else {
      // The other end is gone, too.
      if breaker != peer { isOver = true }
      return
    }
    breaker = peer
    self[peer]?.waiting.removeAll()
    self[peer]?.held = HeldBytes()
    self[peer]?.channel.breakOffWhenClosed()
    if peer == .client { tap.ended(number, by: .client, .reset, at: clock.now) }
    waitAWhile()
    finishBreakingOffWhenFlushed()
  }

  /// Breaks the connection off behind what an end sent, on purpose: neither end has, though the capture shows a reset.
  private func breakOff(behind sender: Peer) {
    tap.altered(
      number, of: Peer.allCases,
      "--fault \(sender.rawValue).drop: nothing more passes, and neither end has reset the connection"
    )
    breakOff(by: .server)
  }

  /// Resets the other end once it has all that was sent before: what it has not acknowledged the system would discard.
  func finishBreakingOffWhenFlushed() {
    guard let breaker else { return }
    nextLook = nil
    if let side = self[breaker.other], side.hasBegun {
      guard side.waiting.isEmpty, side.held.isEmpty else { return }
      if TCPSocket.unacknowledged(on: side.channel.number) > 0 {
        nextLook = Timestamp(nanoseconds: clock.now.nanoseconds &+ Self.pace)
        return
      }
    }
    finishBreakingOff()
  }

  func finishBreakingOff() {
    guard let breaker, !isOver else { return }
    if breaker == .server { tap.ended(number, by: .server, .reset, at: clock.now) }
    // The sockets go with their last references, which are those of this connection.
    self[breaker.other]?.channel.breakOffWhenClosed()
    isOver = true
  }
}
