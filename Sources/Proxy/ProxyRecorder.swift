package import Capture
package import RepriseCore

/// Writes down what passes a proxy as a pcapng file: in plain, as a capture beside the client would have it.
package final class ProxyRecorder: ProxyTap {
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

  private var files: PcapngFiles
  private let watch: Watch?
  /// How many packets were written, in all files.
  private var total = 0
  private let upstream: ProxyUpstream
  private var connections: [Int: Connection] = [:]

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
    rotation: PcapngFiles.Rotation = PcapngFiles.Rotation(), at time: Timestamp,
    watch: Watch? = nil
  ) throws {
    self.watch = watch
    self.upstream = upstream
    let name = upstream.name
    let beginning = PcapngFiles.Beginning(
      application: application,
      comments: ["what passed a proxy to \(name), in plain, as its clients had it"]
    ) { writer in
      writer.addInterface(.raw, name: "proxy", description: "reprise record proxy to \(name)")
    }
    files = try PcapngFiles(to: sink, beginning, rotation: rotation, at: time)
  }

  /// Whether the last file has no room for more.
  package var isFull: Bool { files.isFull }

  package func settle(_ time: Timestamp) throws -> Timestamp? { try files.settle(time) }

  package func finish(_ time: Timestamp) throws { try files.finish(time) }

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
