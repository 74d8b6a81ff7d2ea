import Glibc
import LiveClient
import RepriseCore

/// The thread of a proxy: waits for sockets, and does what they are ready for.
struct ProxyLoop: Sendable {
  private let listeners: [TCPSocket]
  private let upstream: ProxyUpstream
  private let options: Proxy.Options
  private let waker: Waker
  private let clock = LiveClock()

  init(
    _ listeners: [TCPSocket], _ upstream: ProxyUpstream, _ options: Proxy.Options, _ waker: Waker
  ) {
    self.listeners = listeners
    self.upstream = upstream
    self.options = options
    self.waker = waker
  }

  /// Passes on until it is stopped.
  /// - Parameters:
  ///   - tap: What sees it.
  ///   - isStopped: Whether it is to end.
  /// - Throws: What the tap throws, and ``DataClientError`` when connections can't be taken any more.
  func run(_ tap: any ProxyTap, until isStopped: () -> Bool) throws {
    Self.raiseFileLimit()
    var turn = try ProxyTurn(listeners, upstream, options, tap, clock)
    let end = options.duration.map { Self.time(clock.now, plus: $0) }
    var wishes: Timestamp?
    while !isStopped(), !tap.isFull, !turn.isOver {
      if let end, end <= clock.now { break }
      let wait = [wishes, end, turn.deadline].compactMap { $0 }.min()
      try turn.take(waker, milliseconds: wait.map { clock.milliseconds(until: $0) } ?? -1)
      wishes = try tap.settle(clock.now)
    }
    try tap.finish(clock.now)
  }

  private static func time(_ now: Timestamp, plus duration: Duration) -> Timestamp {
    let (seconds, fraction) = duration.components
    let nanoseconds = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !nanoseconds.overflow else { return Timestamp(nanoseconds: .max) }
    let sum = now.nanoseconds.addingReportingOverflow(nanoseconds.partialValue)
    return Timestamp(
      nanoseconds: sum.overflow ? .max : sum.partialValue &+ fraction / 1_000_000_000)
  }

  /// A connection takes two files, and the system's usual limit is made for programs with few.
  private static func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 20)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

/// What speaks TLS for a proxy, on either side where it is spoken.
struct ProxyTLS {
  let client: TLSClientContext?
  let server: TLSServerContext?
}

/// The connections of a proxy, turn by turn.
struct ProxyTurn {
  private let listeners: [TCPSocket]
  private let upstream: ProxyUpstream
  private let options: Proxy.Options
  private let tls: ProxyTLS
  private let tap: any ProxyTap
  private let clock: LiveClock
  private var connections: [ProxyConnection] = []
  private var count = 0
  private var buffer: [UInt8]
  private var files: [pollfd] = []
  /// Whether the system has no file for another connection.
  private var isExhausted = false

  init(
    _ listeners: [TCPSocket], _ upstream: ProxyUpstream, _ options: Proxy.Options,
    _ tap: any ProxyTap, _ clock: LiveClock
  ) throws(DataClientError) {
    self.listeners = listeners
    self.upstream = upstream
    tls = ProxyTLS(
      client: try upstream.makeTLS(),
      server: try options.authorityFolder.map { (folder) throws(DataClientError) in
        try TLSServerContext(CertificateAuthority(in: folder))
      })
    self.options = options
    self.tap = tap
    self.clock = clock
    buffer = [UInt8](repeating: 0, count: max(512, min(options.pieceSize, 131_072)))
  }

  private var takesMore: Bool { options.connections.map { count < $0 } ?? true }

  /// Whether all connections that are to be taken are over.
  var isOver: Bool { !takesMore && connections.isEmpty }

  /// When the next connection gives up what it waits for.
  var deadline: Timestamp? { connections.lazy.compactMap(\.wakeTime).min() }

  /// Waits until something can be done, and does it.
  /// - Parameters:
  ///   - waker: What to wait by.
  ///   - milliseconds: How long to wait at most; negative is for ever.
  /// - Throws: ``DataClientError`` when connections can't be taken any more.
  mutating func take(_ waker: Waker, milliseconds: Int32) throws(DataClientError) {
    files.removeAll(keepingCapacity: true)
    for listener in listeners {
      let isAwaited = takesMore && !isExhausted
      files.append(
        pollfd(fd: isAwaited ? listener.number : -1, events: Int16(POLLIN), revents: 0))
    }
    for connection in connections {
      let (client, server) = connection.interests()
      files.append(client)
      files.append(server)
    }
    waker.wait(on: &files, milliseconds: milliseconds)
    serve()
    for (listener, file) in zip(listeners, files) where file.revents != 0 { try accept(listener) }
    sweep()
  }

  private mutating func serve() {
    let now = clock.now
    for (index, connection) in connections.enumerated() {
      let place = listeners.count + 2 * index
      let (client, server) = (files[place].revents, files[place + 1].revents)
      let isDue = connection.wakeTime.map { $0 <= now } ?? false
      if client != 0 || server != 0 || isDue {
        connection.service(client: client, server: server, &buffer)
      }
      connection.expire(now)
    }
  }

  /// Lets go of what is over.
  private mutating func sweep() {
    guard connections.contains(where: \.isOver) else { return }
    for connection in connections where connection.isOver {
      tap.closed(connection.number, at: clock.now)
    }
    connections.removeAll(where: \.isOver)
    isExhausted = false
  }

  private mutating func accept(_ listener: TCPSocket) throws(DataClientError) {
    while takesMore {
      let accepted: TCPSocket?
      do throws(DataClientError) { accepted = try listener.accept() } catch {
        // Others wait in the system's queue until a connection is over.
        guard !connections.isEmpty else { throw error }
        isExhausted = true
        return
      }
      guard let socket = accepted else { return }
      // A client that has gone again was never there.
      guard let ends = socket.ends else { continue }
      count += 1
      let client = ProxyClient(
        connection: count, address: ends.remote, listener: ends.local)
      tap.opened(client, at: clock.now)
      connections.append(ProxyConnection(client, socket, upstream, tls, options.faults, tap, clock))
    }
  }
}
