package import RepriseCore

/// What is known of a connection that is over, or given up.
package struct ConnectionSummary: Sendable {
  /// The file, by its place among those that are read.
  var file: Int
  /// The number of the connection in it.
  package var number: Int
  /// The client's identifier; nil where it is not known.
  package var client: Name?
  /// The client's address and port; nil where no event tells them.
  var clientAddress: String?
  /// The server's address and port.
  var serverAddress: String?
  /// What it speaks, by the names of `inspect`.
  var protocolName: String
  /// What that runs over; nil if over the connection itself.
  var over: Carrier?
  /// The version of TLS under it; nil without TLS, and where the hellos don't tell it.
  var tlsVersion: String?
  /// The server that the client asked for by TLS.
  var serverName: String?
  /// The time of its first segment or event.
  package var begin: Timestamp
  /// From there to its end, in nanoseconds; 0 where the clock went back.
  package var duration: Int
  /// The messages of each end.
  package var traffic: BothPeers<Traffic>
  /// What the PUBLISH packets of each end were like.
  package var publishes: BothPeers<Publishes>
  /// The keep-alive in seconds; 0 is none, nil not known.
  package var keepAlive: Int?
  /// How many PINGREQs the client sent.
  package var pings: Int
  /// The longest time between two packets of the client, in nanoseconds.
  package var longestSilence: Int?
  /// How often that time was longer than one and a half times the keep-alive.
  package var overruns: Int
  /// How it ended; nil where no event tells it.
  package var end: ConnectionEnd?

  /// How many messages both ends sent.
  package var messages: Int { (traffic.client + traffic.server).messages }
}

/// A connection that is open.
final class OpenConnection {
  let number: Int
  /// Whether something of it was selected.
  var isSelected = false
  @exclusivity(unchecked) var course = ConnectionCourse()
  @exclusivity(unchecked) var exchanges: ConnectionExchanges
  @exclusivity(unchecked) var traffic = BothPeers(Traffic())
  @exclusivity(unchecked) var publishes = BothPeers(Publishes())
  /// The topics behind aliases, by sender and alias (MQTT 5.0 section 3.3.2.3.4).
  var aliases: [Int: Name] = [:]
  /// What its client and server are found by, for takeovers.
  var identity: UInt64?
  var hellos: TLSHellos?
  private var wire: WireProtocol?
  private var over: Carrier?
  private let firstTime: Timestamp
  private var lastTime: Timestamp

  init(_ context: EventContext, _ requestKeys: RequestKeys) {
    exchanges = ConnectionExchanges(requestKeys: requestKeys)
    number = context.connection
    firstTime = context.time
    lastTime = context.time
  }

  /// Takes what an event tells of the connection as a whole.
  func note(_ event: borrowing EventView) {
    let context = event.context
    lastTime = context.time
    switch event.body {
    case .tls(.handshake(let told)): hellos = told
    case .tls: if wire == nil { wire = .tls }
    case .mqtt:
      over = context.over
      wire = context.wire
    default: if wire?.version == nil { wire = context.wire }
    }
  }

  /// Tells all that is known of it.
  /// - Parameters:
  ///   - file: The file that is read.
  ///   - closing: Its end; nil if no event tells it.
  ///   - closer: The peer that began that.
  /// - Returns: What is known of it.
  func summary(file: Int, _ closing: ConnectionClosing?, by closer: Peer) -> ConnectionSummary {
    let end = closing.map { course.end($0, by: closer) }
    let begin = course.opening?.firstTime ?? firstTime
    let last = closing?.firstTime ?? lastTime
    let name = wire ?? (hellos == nil ? nil : .tls)
    return ConnectionSummary(
      file: file, number: number, client: course.client,
      clientAddress: course.opening?.client ?? hellos?.client,
      serverAddress: course.opening?.server ?? hellos?.server,
      protocolName: name.map { "\($0.name)" } ?? "unknown", over: over,
      tlsVersion: hellos?.version, serverName: hellos?.serverName, begin: begin,
      duration: Int(max(0, last.nanoseconds(since: begin))), traffic: traffic,
      publishes: publishes, keepAlive: course.keepAlive, pings: course.pings,
      longestSilence: course.longestSilence, overruns: course.overruns, end: end)
  }
}
