package import RepriseCore

/// One thing that the cloud of a scenario does.
package enum CloudStep: Sendable, Hashable {
  /// The oldest open CONNECT is accepted.
  case accept
  /// The oldest open CONNECT is refused with a code of CONNACK, and the connection closed.
  case refuse(code: UInt8)
  /// The oldest open SUBSCRIBE is answered: the granted QoS of each filter, nil for one that is
  /// refused; without a list everything is granted as asked for.
  case grant([QoS?]?)
  /// The oldest open PUBLISH or UNSUBSCRIBE is acknowledged.
  case acknowledge
  /// A message is sent to the subject, which is subscribed to its topic.
  case send(Message)
  /// The connection breaks, or the attempt to open it fails.
  case lose
  /// The cloud closes the connection in good order, as one does that another client takes the identity over from.
  case hangUp
  /// The connection is closed as the subject asked for.
  case close
  /// A server of WebSocket does something.
  case frame(FrameStep)
  /// A cloud with a mind of its own does what it does next: that many events reach the subject.
  case act(events: Int)

  /// How many events of the client come of the step.
  package var events: Int {
    switch self {
    case .accept, .refuse, .grant, .acknowledge, .send, .lose, .hangUp, .close, .frame: 1
    case .act(let events): events
    }
  }
}

/// One thing that only a server of WebSocket does (RFC 6455).
package enum FrameStep: Sendable, Hashable {
  /// The oldest open handshake is answered so that the connection does not open.
  case refuse(Refusal)
  /// A text message is sent.
  case text(String)
  /// A binary message is sent.
  case binary([UInt8])
  /// The server closes the connection with a Close frame of its own, with a code.
  case close(code: UInt16)

  /// How a server answers a handshake that it does not accept (section 4.2.2).
  package enum Refusal: Sendable, Hashable {
    /// With another status than 101, such as 403; 200 is a server that knows no WebSocket.
    case status(Int)
    /// With 101, and a `Sec-WebSocket-Accept` that answers another key.
    case wrongAccept
    /// With 101, and a subprotocol that nobody offered.
    case foreignSubprotocol
  }
}

/// The world in which a scenario is run: what the subject's client is, and who plays the cloud.
///
/// A scenario is the same in every world, and so must be what the subject makes of it. A world whose
/// cloud plays from a script answers what the subject did; a world that repeats a session has nothing
/// to do in ``perform(_:)``, as all that the cloud does is in the session.
///
/// ## Writing another world
///
/// - ``client`` is one client for the whole scenario. The scenario's runner lets its events through one
///   by one, so a world may let events happen early, but never earlier than the step that makes them
///   when their order against the subject's own actions would differ by it.
/// - ``perform(_:)`` is called for each step of the cloud, one after the other, when the subject has come
///   to rest after the step before. It returns when the cloud has done its part; it need not wait until the
///   subject sees it. It throws when the cloud can't do it: nothing is open, or the broker is gone.
/// - ``settle()`` is called when a step is over and the subject rests. In a world of wires it returns when
///   every packet of the subject is on the wire: then the order of what the subject and the cloud do is the
///   same on the wire as in the scenario, and so in what is recorded of it.
/// - ``end()`` is called once, after the subject has said goodbye and no longer reads ``client``. It
///   gives everything back, and throws when the world is left with something the subject should have done.
package protocol ScenarioWorld: Sendable {
  /// The client that the subject lives on.
  var client: any DataClient { get }

  /// How long to wait, in the client's time, for an event that a step of the cloud makes; nil where
  /// an event is there at once or never, as in a script or a session.
  var patience: Duration? { get }

  /// Where the scenario is in what the world is made of: a frame of a capture, a line of a recording; nil where
  /// it is made of nothing that is written down, and then what happens is numbered.
  var place: ReplayPlace? { get }

  /// Where the subject left the session that the world repeats; nil where it did not, or there is no session.
  var divergence: ReplayDivergence? { get }

  /// Does the cloud's part of one step.
  /// - Parameter step: What the cloud does.
  /// - Throws: What keeps the cloud from doing it.
  func perform(_ step: CloudStep) async throws

  /// Returns when all that the subject did has reached the cloud.
  /// - Throws: What keeps it from getting there.
  func settle() async throws

  /// Ends the world.
  /// - Throws: `DataClientError` of code `diverged` when something is left over, and what keeps the
  ///   world from being given back.
  func end() async throws
}

extension ScenarioWorld {
  /// Events are there at once or never.
  package var patience: Duration? { nil }

  /// What happens is numbered.
  package var place: ReplayPlace? { nil }

  /// There is no session to leave.
  package var divergence: ReplayDivergence? { nil }

  /// All that the subject did is there at once.
  package func settle() async throws {}
}
