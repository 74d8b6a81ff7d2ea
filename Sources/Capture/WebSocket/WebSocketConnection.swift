import RepriseCore
import Wire
import WireDeflate

/// What is kept of a connection that speaks WebSocket, or HTTP that may ask for it.
///
/// Only the traffic of one session reaches it, piece after piece: what each piece asks for is not checked
/// for exclusive access, but for what receives frames, which calls back.
final class WebSocketConnection {
  /// How far the connection is.
  enum Phase {
    /// HTTP, between two requests or in the body of one.
    case idle
    /// In the head of a request.
    case request(HTTPHeadReader)
    /// Behind a request for WebSocket, whose head is not kept.
    case asked(WebSocketRequest)
    /// Frames.
    case open
    /// Another protocol, which HTTP has switched to.
    case other
  }

  /// What is known of the messages.
  enum Cargo {
    /// What came before it is known.
    case undecided(HeldPieces)
    case mqtt
    case other
  }

  /// Whether the messages carry MQTT; nil while that is not known.
  var carriesMQTT: Bool? {
    switch cargo {
    case .undecided: nil
    case .mqtt: true
    case .other: false
    }
  }

  @exclusivity(unchecked) var phase = Phase.idle
  /// Where the bodies of other requests and answers end.
  @exclusivity(unchecked) var course = HTTPCourse()
  /// What the last request for WebSocket offered beside it.
  @exclusivity(unchecked) var otherOffers: [String] = []
  /// The head of an answer that is begun.
  @exclusivity(unchecked) var response: HTTPHeadReader?
  /// What is missing of the head of a request that nothing has answered since.
  var lostRequest: (bytes: Int, reason: Gap.Reason, arrival: Arrival)?
  /// Whether bytes of the server are missing behind the last request, and with them perhaps its answer.
  @exclusivity(unchecked) var isAnswerLost = false
  /// Whether it was taken for open though its answer is not in the capture, and its client has sent nothing since.
  @exclusivity(unchecked) var isAnswerGuessed = false
  /// What waits for a side that is out of step; nil where nothing ever did.
  @exclusivity(unchecked) private(set) var backlog: Backlog?
  /// Whether it is not known in which order frames of both sides came that are looked for now.
  @exclusivity(unchecked) var isOrderGivenUp = false
  /// What the client sent behind its request before the answer came.
  @exclusivity(unchecked) var early = HeldPieces()
  /// Whether the frames that are being cut were sent before the answer came.
  @exclusivity(unchecked) var isEarly = false
  /// The requests for something else.
  var plainRequests = 0
  @exclusivity(unchecked) var cargo = Cargo.undecided(HeldPieces())
  /// Whether the frames are here from the first one on.
  var isFromStart = true
  // Beside the directions, because frames are received while they are being cut.
  private var firstReceiver = WebSocketReceiver(from: .client)
  private var secondReceiver = WebSocketReceiver(from: .server)
  /// The memory that they take, in bytes: asked for with every piece, and another one behind a frame alone.
  @exclusivity(unchecked) private var receiving = (first: 0, second: 0)
  /// What of fragmented messages may not be shown.
  @exclusivity(unchecked) private var firstSecrets = FragmentSecrets()
  @exclusivity(unchecked) private var secondSecrets = FragmentSecrets()
  private let first = WebSocketDirection()
  private let second = WebSocketDirection()

  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// The request that was not answered yet.
  var request: WebSocketRequest? { if case .asked(let request) = phase { request } else { nil } }

  subscript(side: Side) -> WebSocketDirection {
    @inline(__always) get { side == .first ? first : second }
  }

  /// What waits for a side that is out of step.
  var ownBacklog: Backlog {
    if let backlog { return backlog }
    let made = Backlog()
    backlog = made
    return made
  }

  // MARK: Memory

  /// About what it takes by itself, in bytes.
  static let inherent = 1_400

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int {
    let sum =
      first.reserved + second.reserved + receiving.first + receiving.second
      + (backlog?.reserved ?? 0) + (isOpen && early.isEmpty ? 0 : opening)
    if case .undecided(let held) = cargo { return sum + held.reserved }
    return sum
  }

  /// What the handshake takes of it.
  private var opening: Int {
    switch phase {
    case .open: early.reserved
    case .request(let head): head.reserved + (response?.reserved ?? 0) + early.reserved
    case .asked: reservedOffers + (response?.reserved ?? 0) + early.reserved
    case .idle, .other: (response?.reserved ?? 0) + early.reserved
    }
  }

  /// What the offers of a request take that are more than there mostly are, in bytes.
  var reservedOffers: Int {
    guard case .asked(let request) = phase else { return 0 }
    return max(0, request.reserved - Self.fewOffers)
  }

  private static let fewOffers = 1_024

  /// A number that is another one when a frame was finished.
  var progress: Int { first.framer.unitOffset &+ second.framer.unitOffset }

  /// Gives back the memory of what inflates the frames of a side.
  /// - Returns: Whether the next compressed frames may not be readable for that.
  func giveUpInflating(_ side: Side) -> Bool {
    defer { noteReceiving(side) }
    return side == .first ? firstReceiver.giveUp() : secondReceiver.giveUp()
  }

  /// Notes what memory the frames of a side take now.
  private func noteReceiving(_ side: Side) {
    if side == .first {
      receiving.first = firstReceiver.reserved
    } else {
      receiving.second = secondReceiver.reserved
    }
  }

  /// Begins to take frames.
  /// - Parameters:
  ///   - client: The side of the client.
  ///   - store: What all connections may inflate to.
  ///   - agreement: What was agreed on for the frames of a role.
  func open(
    client: Side, _ store: InflationStore,
    _ agreement: (WebSocketRole) -> WebSocketReceiver.Agreement
  ) {
    phase = .open
    response = nil
    func receiver(_ side: Side) -> WebSocketReceiver {
      let role: WebSocketRole = side == client ? .client : .server
      return WebSocketReceiver(
        from: role, deflate: agreement(role), isFromStart: isFromStart, store: store)
    }
    firstReceiver = receiver(.first)
    secondReceiver = receiver(.second)
    receiving = (0, 0)
    guard !isFromStart else { return }
    firstSecrets.lose()
    secondSecrets.lose()
  }

  func receive(
    _ bytes: RawSpan, _ header: WebSocketFrameHeader, from side: Side,
    _ use: (consuming WebSocketFrameView) -> Void
  ) {
    if side == .first {
      receiving.first = Self.receive(bytes, header, by: &firstReceiver, use)
    } else {
      receiving.second = Self.receive(bytes, header, by: &secondReceiver, use)
    }
  }

  /// Takes a frame, and tells what memory its side takes then: while the receiver is at hand, as it takes a while to see
  /// that nothing else has it.
  @inline(__always)
  private static func receive(
    _ bytes: RawSpan, _ header: WebSocketFrameHeader, by receiver: inout WebSocketReceiver,
    _ use: (consuming WebSocketFrameView) -> Void
  ) -> Int {
    receiver.receive(bytes, header, use)
    return receiver.reserved
  }

  /// Tells that frames of a side are missing.
  func loseFrames(of side: Side) {
    if side == .first {
      firstReceiver.lose()
      firstSecrets.lose()
    } else {
      secondReceiver.lose()
      secondSecrets.lose()
    }
  }

  /// Whether nothing of a frame may be shown where secrets are hidden.
  func conceals(_ frame: borrowing WebSocketFrameView, from side: Side) -> Bool {
    if side == .first { firstSecrets.conceals(frame) } else { secondSecrets.conceals(frame) }
  }
}

/// One direction of a connection that speaks WebSocket: an object, so that one of two can be chosen
/// without a copy.
///
/// Only the traffic of one session reaches it, frame after frame.
final class WebSocketDirection {
  /// What cuts the frames.
  @exclusivity(unchecked) var framer = WebSocketFramer()
  /// Set while it is unknown where the next frame starts.
  @exclusivity(unchecked) var resynchronizer: StreamResynchronizer<WebSocketChain>?
  /// Whether what it sends has to wait for the other side, which is out of step.
  @exclusivity(unchecked) var isHeldBack = false
  /// Bytes of the stream that came or are known to be lost.
  @exclusivity(unchecked) var offset = 0
  /// Bytes of the current frame that are known to be lost.
  @exclusivity(unchecked) var lostInFrame = 0
  /// Whether the last frame was masked; nil before the first.
  @exclusivity(unchecked) var isMasked: Bool?
  /// How much its frames still have to prove since it was out of step, until what they break is no sign of a wrong place.
  @exclusivity(unchecked) var doubt = 0
  /// Where a frame begins that shows the frames before it to have been none; nil where there is none.
  @exclusivity(unchecked) var disproof: Int?

  /// Whether bytes came of which it is unknown where the next frame starts.
  var isOutOfStep: Bool { resynchronizer?.isEmpty == false }

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int { framer.reserved + (resynchronizer?.reserved ?? 0) }
}
