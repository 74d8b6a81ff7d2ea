import RepriseCore

/// Writes what TLS carried as connections of plain TCP between the same ends.
///
/// Every byte that was decrypted is there, whether something decodes it or not; what could not be decrypted is missing
/// from the streams.
final class PlainStreams {
  /// A connection that was decrypted, at least in part.
  struct Found {
    let opening: FlowOpening
  }

  private let take: SessionPackets.Taker
  /// The connections that there were so far.
  private(set) var found: [Found] = []

  private let isWanted: (FlowOpening) -> Bool
  private let usesKnownPorts: Bool

  /// Prepares to write.
  /// - Parameters:
  ///   - isWanted: Tells whether a connection is written.
  ///   - usesKnownPorts: Whether servers have the ports by which Wireshark knows what they speak; comments tell the
  ///     real ones.
  ///   - take: Takes the packets.
  init(
    of isWanted: @escaping (FlowOpening) -> Bool = { _ in true }, usesKnownPorts: Bool = false,
    _ take: @escaping SessionPackets.Taker
  ) {
    self.isWanted = isWanted
    self.usesKnownPorts = usesKnownPorts
    self.take = take
  }

  /// Takes bytes that were decrypted.
  func receive(_ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ joint: TLSJoint) {
    guard bytes.byteCount > 0, isWanted(joint.connection.opening) else { return }
    var comments: [String] = []
    var tcp = stream(of: joint, firstByte: bytes.uint8(at: 0), &comments)
    for side in joint.connection.altered { tcp.alter(joint.connection.peer(side)) }
    tcp.send(from: joint.connection.peer(side), bytes) {
      take(arrival.time, comments, $0, $1)
      comments = []
    }
    joint.state.plainTCP = tcp
  }

  /// Takes the loss of bytes.
  func lose(_ count: Int, _ side: Side, _ arrival: Arrival, _ joint: TLSJoint) {
    guard isWanted(joint.connection.opening) else { return }
    var comments: [String] = []
    var tcp = stream(of: joint, firstByte: nil, &comments)
    tcp.skip(max(1, count), from: joint.connection.peer(side)) {
      take(arrival.time, comments, $0, $1)
      comments = []
    }
    joint.state.plainTCP = tcp
  }

  /// Takes the end of a connection.
  func close(_ closing: FlowClosing, _ joint: TLSJoint) {
    guard var tcp = joint.state.plainTCP else { return }
    joint.state.plainTCP = nil
    let sender = joint.connection.peer(closing.side)
    switch closing.how {
    case .fin:
      tcp.finish(from: sender, isPrompt: closing.isPrompt) { take(closing.began.time, [], $0, $1) }
      guard closing.isAnswered else { return }
      tcp.finish(from: sender.other) { take(closing.arrival.time, [], $0, $1) }
    case .reset:
      tcp.reset(from: sender, isPrompt: closing.isPrompt) { take(closing.began.time, [], $0, $1) }
    case .endOfCapture:
      guard closing.isPrompt else { return }
      tcp.acknowledge(sender, isPrompt: true) { take(closing.arrival.time, [], $0, $1) }
    }
  }

  private func stream(
    of joint: TLSJoint, firstByte: UInt8?, _ comments: inout [String]
  ) -> SyntheticTCP {
    if let tcp = joint.state.plainTCP { return tcp }
    let opening = joint.connection.opening
    let isFirstClient = joint.connection.client == .first
    found.append(Found(opening: opening))
    let hellos = joint.hellos()
    let parts = [hellos.version, hellos.cipherSuite, hellos.serverName].compactMap(\.self)
    let start = UInt32(truncatingIfNeeded: opening.arrival.frame &* 0x9E37_79B1)
    comments = ["this connection was decrypted: \(parts.joined(separator: ", "))"]
    var server = isFirstClient ? opening.second : opening.first
    let known = KnownPort(firstByte: firstByte)
    if usesKnownPorts, !known.includes(server.port) {
      comments.append("the server was \(server)")
      server = Endpoint(address: server.address, port: known.port)
    }
    var tcp = SyntheticTCP(
      client: isFirstClient ? opening.first : opening.second, server: server, start: start,
      seenFrom: .nowhere)
    guard opening.isFromStart else { return tcp }
    tcp.open {
      take(opening.arrival.time, comments, $0, $1)
      comments = []
    }
    return tcp
  }
}
