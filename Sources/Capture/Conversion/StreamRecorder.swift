package import RepriseCore

/// Writes what the ends of connections say as pcapng: in plain, as a capture beside one of them would have it.
package struct StreamRecorder {
  /// Sees each packet, with its number from 1 on and its time; its two parts are valid during the call only.
  package typealias Watch = (
    _ number: Int, _ time: Timestamp, _ header: RawSpan, _ payload: RawSpan
  ) -> Void

  /// How one end ends its direction.
  package enum End: Sendable, Hashable {
    /// In good order, by FIN.
    case finished
    /// At once and in both directions, by RST.
    case reset
  }

  private struct Connection {
    var tcp: SyntheticTCP
    /// What is to be said of the next packet.
    var comments: [String] = []
  }

  /// The most bytes that a segment takes besides its payload, with an acknowledgement of its own.
  private static let overhead = 256

  private var files: PcapngFiles
  private let watch: Watch?
  /// How many packets were written, in all files.
  private var total = 0
  private var connections: [Int: Connection] = [:]

  /// Begins a file.
  /// - Parameters:
  ///   - sink: Takes the file.
  ///   - beginning: What each file begins with; its interface is one of raw IP.
  ///   - rotation: When a file is full.
  ///   - time: The time.
  ///   - watch: Sees each packet.
  /// - Throws: What the sink throws.
  package init(
    to sink: any ByteSink, _ beginning: PcapngFiles.Beginning,
    rotation: PcapngFiles.Rotation = PcapngFiles.Rotation(), at time: Timestamp,
    watch: Watch? = nil
  ) throws {
    self.watch = watch
    files = try PcapngFiles(to: sink, beginning, rotation: rotation, at: time)
  }

  /// Whether the last file has no room for more.
  package var isFull: Bool { files.isFull }

  /// Hands on what has waited long enough.
  /// - Parameter time: The time.
  /// - Returns: When to be asked again; nil when nothing waits.
  /// - Throws: What the sink throws.
  package mutating func settle(_ time: Timestamp) throws -> Timestamp? { try files.settle(time) }

  /// Ends the last file.
  /// - Throws: What the sink throws.
  package mutating func finish(_ time: Timestamp) throws { try files.finish(time) }

  /// Takes note of a connection that was opened.
  /// - Parameters:
  ///   - connection: Its number.
  ///   - client: The end that opened it.
  ///   - server: The other end.
  ///   - vantage: Where the times of the packets are from.
  ///   - comments: What is said of its first packet.
  ///   - time: The time.
  package mutating func open(
    _ connection: Int, from client: Endpoint, to server: Endpoint,
    seenFrom vantage: SyntheticTCP.Vantage, comments: [String], at time: Timestamp
  ) {
    // Numbers that begin with the time, as RFC 9293 section 3.4.1 has it, tell two connections of the same ports apart.
    let start = UInt32(truncatingIfNeeded: time.nanoseconds / 4_000)
    connections[connection] = Connection(
      tcp: SyntheticTCP(client: client, server: server, start: start, seenFrom: vantage),
      comments: comments)
    write(connection, 0, time) { $0.open($1) }
  }

  /// Has something said of the next packet of a connection.
  package mutating func note(_ connection: Int, _ comment: String) {
    connections[connection]?.comments.append(comment)
  }

  /// Takes note that from now on the other end of a connection does not get what an end sends.
  /// - Parameters:
  ///   - connection: Its number.
  ///   - senders: The ends.
  ///   - comment: What is said of the next packet.
  package mutating func alter(_ connection: Int, of senders: [Peer], _ comment: String) {
    for sender in senders { connections[connection]?.tcp.alter(sender) }
    note(connection, comment)
  }

  /// Takes bytes that one end of a connection sent; they are needed during the call only.
  package mutating func send(
    _ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp
  ) {
    write(connection, bytes.byteCount, time) { $0.send(from: sender, bytes, $1) }
  }

  /// Takes the end of a direction, or of a connection.
  package mutating func end(_ connection: Int, by peer: Peer, _ end: End, at time: Timestamp) {
    write(connection, 0, time) { tcp, take in
      switch end {
      case .finished: tcp.finish(from: peer, take)
      case .reset: tcp.reset(from: peer, take)
      }
    }
  }

  /// Forgets a connection that is over.
  package mutating func forget(_ connection: Int) { connections[connection] = nil }

  /// Writes packets of a connection.
  /// - Parameters:
  ///   - number: The connection's number.
  ///   - count: How many bytes it is that its ends say.
  ///   - time: The time.
  ///   - write: Makes the packets.
  private mutating func write(
    _ number: Int, _ count: Int, _ time: Timestamp,
    _ write: (inout SyntheticTCP, SyntheticTCP.Taker) -> Void
  ) {
    guard var connection = connections[number] else { return }
    var comments = connection.comments
    let text = comments.reduce(0) { $0 + $1.utf8.count + 8 }
    let size = count + (count / 65_000 + 2) * Self.overhead + text
    guard files.makeRoom(for: size, at: time, { nil }) else { return }
    write(&connection.tcp) { header, payload in
      files.add(at: time, comments: comments, header, payload)
      total &+= 1
      watch?(total, time, header, payload)
      comments = []
    }
    connection.comments = comments
    connections[number] = connection
  }
}
