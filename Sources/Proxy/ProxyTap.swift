package import Capture
package import RepriseCore

/// Sees what passes a proxy, on the proxy's thread and in the order in which the client's side of it has it.
package protocol ProxyTap: AnyObject {
  /// A client has connected.
  func opened(_ client: ProxyClient, at time: Timestamp)
  /// There is news of how a connection begins.
  func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp)
  /// A client has sent bytes, or has been sent some by the server; they are valid during the call only.
  func passed(_ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp)
  /// From now on what ends send is not what the other ends get, on purpose; it may be told for more than that.
  func altered(_ connection: Int, of senders: [Peer], _ comment: String)
  /// One end has ended its direction, or has broken the connection off.
  func ended(_ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp)
  /// A connection is over; nothing more comes of it.
  func closed(_ connection: Int, at time: Timestamp)
  /// All that was ready has been passed on, so there is time for other work.
  /// - Parameter time: The time.
  /// - Returns: When it wants to be asked again, at the latest; nil when that may wait for what passes.
  /// - Throws: What makes it pointless to go on, such as a full disk.
  func settle(_ time: Timestamp) throws -> Timestamp?
  /// Whether it wants to see no more, so that the proxy may end.
  var isFull: Bool { get }
  /// The proxy ends.
  /// - Throws: What kept it from keeping what it saw.
  func finish(_ time: Timestamp) throws
}

/// A client that has connected to a proxy.
package struct ProxyClient: Sendable, Hashable {
  /// The number of its connection, from 1.
  let connection: Int
  /// Its address.
  let address: Endpoint
  /// The proxy's address that it has connected to.
  let listener: Endpoint
}

/// What became of the way to the server, or of the client's TLS.
package enum ProxyOutcome: Sendable, Hashable {
  /// The server is there: the proxy's address and the server's, and by which TLS, if by any.
  case connected(from: Endpoint, to: Endpoint, by: String?)
  /// The client's TLS is there: the text says for people what it is.
  case greeted(String)
  /// One of both is not; the text is for people, and says what to do.
  case failed(String)
}
