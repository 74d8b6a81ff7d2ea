package import Capture
package import RepriseCore

/// Writes down what passes a proxy as a pcapng file: in plain, as a capture beside the client would have it.
package final class ProxyRecorder: ProxyTap {
  private var recorder: StreamRecorder
  private let upstream: ProxyUpstream
  private let delays: Bool

  /// Begins a file.
  /// - Parameters:
  ///   - sink: Takes the file.
  ///   - application: What writes it, with its version.
  ///   - upstream: The server.
  ///   - delays: Whether what passes comes later than it would, so that nobody knows when it was at the other end.
  ///   - rotation: When a file is full.
  ///   - time: The time.
  ///   - watch: Sees each packet.
  /// - Throws: What the sink throws.
  package init(
    to sink: any ByteSink, by application: String, of upstream: ProxyUpstream,
    delays: Bool = false, rotation: PcapngFiles.Rotation = PcapngFiles.Rotation(),
    at time: Timestamp,
    watch: StreamRecorder.Watch? = nil
  ) throws {
    self.upstream = upstream
    self.delays = delays
    let name = upstream.name
    let beginning = PcapngFiles.Beginning(
      application: application,
      comments: ["what passed a proxy to \(name), in plain, as its clients had it"]
    ) { writer in
      writer.addInterface(.raw, name: "proxy", description: "reprise record proxy to \(name)")
    }
    recorder = try StreamRecorder(
      to: sink, beginning, rotation: rotation, at: time, watch: watch)
  }

  /// Whether the last file has no room for more.
  package var isFull: Bool { recorder.isFull }

  package func settle(_ time: Timestamp) throws -> Timestamp? { try recorder.settle(time) }

  package func finish(_ time: Timestamp) throws { try recorder.finish(time) }

  package func opened(_ client: ProxyClient, at time: Timestamp) {
    let server = Endpoint(
      address: client.listener.address, port: upstream.shownPort ?? client.listener.port)
    recorder.open(
      client.connection, from: client.address, to: server,
      // The proxy hears a client of its own host at once, and the server from wherever that is.
      seenFrom: client.address.isOnOneHost(with: server) && !delays ? .client : .nowhere,
      comments: ["\(client.address) connects to \(client.listener), for \(upstream.name)"],
      at: time)
  }

  package func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {
    switch outcome {
    case .connected(let local, let remote, let protection):
      let way = protection.map { " by \($0)" } ?? ""
      recorder.note(connection, "goes on from \(local) to \(remote)\(way)")
    case .greeted(let how): recorder.note(connection, how)
    case .failed(let why): recorder.note(connection, why)
    }
  }

  package func passed(
    _ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp
  ) {
    recorder.send(connection, from: sender, bytes, at: time)
  }

  package func altered(_ connection: Int, of senders: [Peer], _ comment: String) {
    recorder.alter(connection, of: senders, comment)
  }

  package func ended(
    _ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp
  ) {
    recorder.end(connection, by: peer, end, at: time)
  }

  package func closed(_ connection: Int, at time: Timestamp) { recorder.forget(connection) }
}
