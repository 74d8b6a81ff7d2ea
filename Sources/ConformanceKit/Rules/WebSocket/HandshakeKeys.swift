internal import RepriseCore
internal import Wire

/// The keys of the handshakes of a file, each of which should be met once.
struct HandshakeKeys {
  private struct Sight {
    var connection: Int
    /// The other connections whose clients have used the key.
    var others: [Int] = []
    var moment: Moment
    var ends: ConnectionEnds?
    /// The bytes of the request.
    var request: UInt64
    /// The answer that accepts; nil as long as none was captured.
    var answer: Moment?
  }

  private var sights: [String: Sight] = [:]
  /// The keys that wait for an answer that accepts, by connection.
  private var waiting: [Int: String] = [:]
  /// The most keys that are kept, and the longest: one that is right has 24 characters.
  private static let maximum = 65_536
  private static let mostOthers = 8
  private static let longest = 64

  /// Judges the key of a request between two ends; nil where they are not known any more.
  mutating func judge(
    _ request: WebSocketRequest, between ends: ConnectionEnds?, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let key = request.key, !key.isEmpty, !Array(key.utf8).span.bytes.holdsHidden else {
      return
    }
    guard key.utf8.count <= Self.longest else { return tally.leave(.keyIsFresh, .tooMany, hearing) }
    let own = Sight(
      connection: event.context.connection, moment: Moment(event.context), ends: ends,
      request: TextHash.of(request.head.bytes.span.bytes))
    guard let sight = sights[key] else {
      guard sights.count < Self.maximum else { return tally.leave(.keyIsFresh, .tooMany, hearing) }
      // One key alone is as fresh as any.
      if !sights.isEmpty { tally.satisfy(.keyIsFresh, hearing) }
      sights[key] = own
      waiting[own.connection] = key
      return
    }
    // A client that has to authenticate, or is sent elsewhere, asks again, and so does its proxy: with the same key, as
    // a key that was refused has opened nothing.
    guard sight.connection != own.connection else {
      sights[key]?.moment = own.moment
      sights[key]?.answer = nil
      waiting[own.connection] = key
      return
    }
    guard !sight.others.contains(own.connection) else { return }
    if sight.others.count < Self.mostOthers { sights[key]?.others.append(own.connection) }
    if let doubt = Self.doubt(that: own, isNewTo: sight) {
      return tally.leave(.keyIsFresh, doubt, hearing)
    }
    tally.violate(
      .keyIsFresh, event, hearing,
      FindingText(
        "the client's request has the key of connection \(sight.connection), frame "
          + "\(sight.moment.frame)",
        expected: "a key that was selected at random for this connection",
        actual: "Sec-WebSocket-Key: \"\(key)\" again"))
  }

  /// Why a request with the key of an earlier one need not be a second one; nil where it is.
  private static func doubt(that second: Sight, isNewTo first: Sight) -> UndecidedReason? {
    guard let ends = second.ends, let earlier = first.ends else { return .startNotCaptured }
    // A capture that was taken at two places shows a connection twice, and so do packets that came late again; between
    // the places either address may be translated.
    let mayBeOne = ends.client == earlier.client || ends.clientHost != earlier.clientHost
    if mayBeOne, second.request == first.request { return .recordedTwice }
    // A capture on a proxy's machine shows what comes in, and the same again going out before the answer comes back:
    // connections are told in the order in which they are recognised, so that the order of frames counts as well, which
    // a recording does not have, and that of times, which two clocks may take.
    guard let answer = first.answer, second.moment.frame > answer.frame,
      second.moment.time > answer.time
    else { return .forwarded }
    let isSoon = !second.moment.time.isBehindLeniency(since: first.moment.time)
    return isSoon && ends.clientHost != earlier.clientHost ? .forwarded : nil
  }

  /// Notes that a connection's request is accepted.
  mutating func accept(_ context: EventContext) {
    guard let key = waiting.removeValue(forKey: context.connection) else { return }
    sights[key]?.answer = Moment(context)
  }

  /// Takes the end of a connection, on which nobody asks again.
  mutating func end(_ context: EventContext) { waiting[context.connection] = nil }
}

/// The client's end of a connection, as far as it is compared with that of others.
struct ConnectionEnds {
  /// A hash of the client's end.
  private(set) var client: UInt32
  /// A hash of the client's end without its port.
  private(set) var clientHost: UInt32

  init(_ opening: ConnectionOpening) {
    client = Self.hash(opening.client[...])
    let colon = opening.client.lastIndex(of: ":") ?? opening.client.endIndex
    clientHost = Self.hash(opening.client[..<colon])
  }

  private static func hash(_ text: Substring) -> UInt32 {
    UInt32(truncatingIfNeeded: TextHash.of(Array(text.utf8).span.bytes))
  }
}
