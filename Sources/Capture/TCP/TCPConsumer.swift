import RepriseCore

/// The two ends of a TCP connection before it is known which of them is the client.
enum Side: Int, Sendable {
  /// The one who sent the SYN, or without one the first segment seen.
  case first
  /// The other one.
  case second

  var other: Side { self == .first ? .second : .first }
}

/// The frame that brought something, and its time.
struct Arrival: Sendable, Hashable {
  var frame: Int
  var time: Timestamp
  /// Whether its place among the bytes of the other side is not known.
  var isOrderUncertain = false
}

/// One direction of a TCP connection, and the frame that brings something in it.
struct TCPDirection<Connection: AnyObject> {
  let connection: Connection
  /// The side that sends.
  let side: Side
  var arrival: Arrival

  @inline(__always)
  init(_ connection: Connection, _ side: Side, _ arrival: Arrival) {
    self.connection = connection
    self.side = side
    self.arrival = arrival
  }

  /// The other direction, and the same frame.
  var other: Self { Self(connection, side.other, arrival) }

  /// The same direction, and another frame.
  func at(_ arrival: Arrival) -> Self { Self(connection, side, arrival) }
}

/// What is known of a TCP connection when its first bytes come.
struct FlowOpening: Sendable {
  var first: Endpoint
  var second: Endpoint
  /// Whether the SYN was captured, so that the stream of the first side begins at its beginning.
  var isFromStart: Bool
  /// The first segment of the connection.
  var arrival: Arrival
}

/// How a TCP connection ended, and who began.
struct FlowClosing: Sendable {
  var how: ConnectionClosing.How
  var side: Side
  /// The first FIN or RST.
  var began: Arrival
  /// What completed the end.
  var arrival: Arrival
  /// Whether a FIN of the other side was captured as well.
  var isAnswered: Bool
  /// Whether something that was sent arrived late.
  var isLate = false
  /// Whether the capture was put together of two whose clocks differ.
  var isOfMergedClocks = false
  /// The longest time for which each side is known to have sent nothing, in nanoseconds; nil where the capture was taken
  /// beside it.
  var silences: (first: Int64?, second: Int64?) = (nil, nil)
  /// How long before the first FIN or RST each side last showed that it had not ended, in nanoseconds; nil where the
  /// capture was taken beside it.
  var rests: (first: Int64?, second: Int64?) = (nil, nil)
}

extension FlowClosing {
  /// Whether nothing was late, and the capture was taken beside both ends.
  var isPrompt: Bool {
    !isLate
      && [silences.first, silences.second, rests.first, rests.second].allSatisfy { $0 == nil }
  }
}

/// What takes the streams of TCP connections, in an order of both sides that is causally possible and
/// with every loss told before what depends on it.
protocol TCPConsumer {
  /// What the consumer keeps for a connection.
  associatedtype Connection: AnyObject

  /// A connection brings its first bytes or losses.
  mutating func opened(_ opening: FlowOpening) -> Connection

  /// The next bytes of a side.
  /// - Returns: Whether the consumer still wants the connection.
  mutating func received(
    _ bytes: RawSpan, _ direction: TCPDirection<Connection>
  ) -> Bool

  /// Bytes of a side that are not in the capture.
  /// - Returns: Whether the consumer still wants the connection.
  mutating func lost(
    _ count: Int, _ reason: Gap.Reason, _ direction: TCPDirection<Connection>
  ) -> Bool

  /// From now on the other side did not get what a side sends, but something else, as a proxy says; once a side.
  mutating func altered(_ direction: TCPDirection<Connection>)

  /// Whether bytes are such as a client begins a connection with, and hardly anything else.
  func beginsSession(_ bytes: RawSpan) -> Bool

  /// Whether bytes are such as a server answers the beginning of a connection with.
  func answersSession(_ bytes: RawSpan) -> Bool

  /// The connection is over; it is the last call for it.
  mutating func closed(_ closing: FlowClosing, on connection: Connection)
}

extension TCPConsumer {
  /// Does nothing.
  mutating func altered(_ direction: TCPDirection<Connection>) {}
}
