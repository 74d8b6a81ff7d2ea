import Capture
package import RepriseCore

/// Writes down what passes a proxy as a pcapng file: in plain, as a capture beside the client would have it.
///
/// What it has seen is in the file after ``delay`` at the latest, whatever happens to the process.
package final class ProxyRecorder: ProxyTap {
  /// When a file is full, and what comes then.
  package struct Rotation {
    /// The most bytes of a file; nil without a limit.
    package var limit: Int?
    /// How long a file is written to; nil without a limit.
    package var interval: Duration?
    /// Begins another file; nil ends the recording.
    package var startNext: (() throws -> Void)?

    /// Creates a rotation without limits.
    package init() {}
  }

  /// How long packets may wait for others to be written together with, in nanoseconds.
  private static let delay: Int64 = 100_000_000
  /// How many bytes may wait.
  private static let largestWrite = 1 << 18
  /// What is kept free in a file for what it ends with.
  private static let reserve = 128
  /// The most bytes that a segment takes besides its payload, with an acknowledgement of its own.
  private static let overhead = 256

  private struct Connection {
    var tcp: SyntheticTCP
    /// What is to be said of the next packet.
    var comments: [String] = []
  }

  /// Sees each packet, with its number from 1 on and its time; its two parts are valid during the call only.
  package typealias Watch = (
    _ number: Int, _ time: Timestamp, _ header: RawSpan, _ payload: RawSpan
  ) -> Void

  private var sink: any ByteSink
  private let watch: Watch?
  /// How many packets were written, in all files.
  private var total = 0
  private let application: String
  private let upstream: ProxyUpstream
  private let rotation: Rotation
  private var writer: PcapngWriter
  private var interface: UInt32 = 0
  private var connections: [Int: Connection] = [:]
  private var start: Timestamp
  /// When the packet that has waited longest was added.
  private var waitingSince: Timestamp?
  private var fileSize = 0
  private var packets: UInt64 = 0
  private var failure: (any Error)?
  /// Whether the last file has no room for more.
  package private(set) var isFull = false

  /// Begins a file.
  /// - Parameters:
  ///   - sink: Takes the file.
  ///   - application: What writes it, with its version.
  ///   - upstream: The server.
  ///   - rotation: When a file is full.
  ///   - time: The time.
  ///   - watch: Sees each packet.
  /// - Throws: What the sink throws.
  package init(
    to sink: any ByteSink, by application: String, of upstream: ProxyUpstream,
    rotation: Rotation = Rotation(), at time: Timestamp, watch: Watch? = nil
  ) throws {
    self.sink = sink
    self.watch = watch
    self.application = application
    self.upstream = upstream
    self.rotation = rotation
    start = time
    writer = PcapngWriter(application: application)
    begin(time)
    try flush()
  }

  // MARK: Files

  private func begin(_ time: Timestamp) {
    writer = PcapngWriter(
      application: application,
      comments: ["what passed a proxy to \(upstream.name), in plain, as its clients had it"])
    interface = writer.addInterface(
      .raw, name: "proxy", description: "reprise record proxy to \(upstream.name)")
    start = time
    fileSize = 0
    packets = 0
  }

  private func flush() throws {
    waitingSince = nil
    guard !writer.bytes.isEmpty else { return }
    let bytes = writer.bytes
    try sink.write(bytes.span.bytes)
    fileSize += bytes.count
    writer.removeAll()
  }

  /// Makes room for so many bytes, in this file or in another one.
  /// - Returns: Whether there is room.
  private func reserve(_ count: Int, _ time: Timestamp) -> Bool {
    guard failure == nil, !isFull else { return false }
    let isLate = rotation.interval.map { Self.hasPassed($0, since: start, time) } ?? false
    let size = fileSize + writer.bytes.count + count + Self.reserve
    guard isLate || rotation.limit.map({ size > $0 }) ?? false else { return true }
    guard let startNext = rotation.startNext else {
      isFull = true
      return false
    }
    // A file that has no packet yet would not have more room as the next one.
    guard packets > 0 else { return true }
    do {
      try end(time)
      try startNext()
      begin(time)
    } catch {
      failure = error
      return false
    }
    return true
  }

  private static func hasPassed(
    _ interval: Duration, since start: Timestamp, _ time: Timestamp
  ) -> Bool {
    Duration.nanoseconds(time.nanoseconds(since: start)) >= interval
  }

  private func end(_ time: Timestamp) throws {
    writer.addStatistics(of: interface, from: start, to: time, packets: packets)
    try flush()
  }

  package func settle(_ time: Timestamp) throws -> Timestamp? {
    if let failure { throw failure }
    guard let waitingSince else { return nil }
    let isDue = time.nanoseconds(since: waitingSince) >= Self.delay
    if isDue || writer.bytes.count >= Self.largestWrite {
      try flush()
      return nil
    }
    return Timestamp(nanoseconds: waitingSince.nanoseconds &+ Self.delay)
  }

  package func finish(_ time: Timestamp) throws {
    if let failure { throw failure }
    try end(time)
  }

  // MARK: Packets

  package func opened(_ client: ProxyClient, at time: Timestamp) {
    // Numbers that begin with the time, as RFC 9293 section 3.4.1 has it, tell two connections of the same ports apart.
    let start = UInt32(truncatingIfNeeded: time.nanoseconds / 4_000)
    let server = Endpoint(
      address: client.listener.address, port: upstream.shownPort ?? client.listener.port)
    connections[client.connection] = Connection(
      tcp: SyntheticTCP(
        client: client.address, server: server, clientStart: start, serverStart: ~start),
      comments: ["\(client.address) connects to \(client.listener), for \(upstream.name)"])
    write(client.connection, 0, time) { $0.open($1) }
  }

  package func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {
    switch outcome {
    case .connected(let local, let remote, let protection):
      let way = protection.map { " by \($0)" } ?? ""
      connections[connection]?.comments.append("goes on from \(local) to \(remote)\(way)")
    case .greeted(let how): connections[connection]?.comments.append(how)
    case .failed(let why): connections[connection]?.comments.append(why)
    }
  }

  package func passed(
    _ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp
  ) {
    write(connection, bytes.byteCount, time) { $0.send(from: sender, bytes, $1) }
  }

  package func ended(_ connection: Int, by peer: Peer, _ end: ProxyEnd, at time: Timestamp) {
    write(connection, 0, time) { tcp, take in
      switch end {
      case .finished: tcp.finish(from: peer, take)
      case .reset: tcp.reset(from: peer, take)
      }
    }
  }

  package func closed(_ connection: Int, at time: Timestamp) { connections[connection] = nil }

  /// Writes packets of a connection.
  /// - Parameters:
  ///   - number: The connection's number.
  ///   - count: How many bytes it is that its ends say.
  ///   - time: The time.
  ///   - write: Makes the packets.
  private func write(
    _ number: Int, _ count: Int, _ time: Timestamp,
    _ write: (inout SyntheticTCP, SyntheticTCP.Taker) -> Void
  ) {
    guard var connection = connections[number] else { return }
    var comments = connection.comments
    let text = comments.reduce(0) { $0 + $1.utf8.count + 8 }
    let size = count + (count / 65_000 + 2) * Self.overhead + text
    guard reserve(size, time) else { return }
    write(&connection.tcp) { header, payload in
      writer.addPacket(on: interface, at: time, comments: comments, header, payload)
      packets &+= 1
      total &+= 1
      watch?(total, time, header, payload)
      comments = []
    }
    connection.comments = comments
    connections[number] = connection
    if waitingSince == nil { waitingSince = time }
  }
}
