internal import RepriseCore
internal import Wire

/// What is known of the WebSocket frames of a connection, as far as it matters to MQTT in them.
///
/// That a connection carries MQTT, and of which version, only its first packet tells; what came before
/// it waits here.
struct MQTTCarriage {
  /// The frames before the first packet that are as they must be.
  private(set) var goodFrames = 0
  /// The first frame before it that is not.
  private(set) var badFrame: Event?
  private var client = CarriedBytes()
  private var server = CarriedBytes()
  /// Packets that do not fill their frames.
  var unaligned = UnalignedPackets()
  /// Whether the first packet was met.
  private(set) var isMet = false

  subscript(peer: Peer) -> CarriedBytes {
    get { peer == .client ? client : server }
    set {
      if peer == .client { client = newValue } else { server = newValue }
    }
  }

  /// Keeps a frame until it is known what it carries.
  mutating func hold(_ event: borrowing EventView, isBinary: Bool) {
    if isBinary {
      goodFrames += 1
    } else if badFrame == nil {
      badFrame = Event(copying: event.start(of: 4 << 10))
    }
  }

  /// Notes the first packet, and gives back what waited for it.
  mutating func meet() {
    isMet = true
    badFrame = nil
  }
}

/// The bytes of the frames of one side that no packet has taken yet.
struct CarriedBytes {
  /// The opcode of the message that is open, or was last.
  private var opcode = WebSocketOpcode.binary
  /// Bytes of the current frame, and of those before it, in which a packet has begun.
  private var current = 0
  private var earlier = 0
  private var isFresh = true
  /// Whether the bytes can be counted: none is missing.
  private var isKnown = true
  /// Whether a frame that is no binary one has bytes of the next packet.
  private var hasText = false

  /// Takes a frame of data; true when it is binary.
  mutating func take(_ frame: borrowing WebSocketFrameView) -> Bool {
    if frame.opcode != .continuation { opcode = frame.opcode }
    earlier += current
    current = frame.data.byteCount
    isFresh = true
    if case .kept = frame.compression { isKnown = false }
    if frame.missing > 0 { isKnown = false }
    if opcode != .binary { hasText = true }
    return opcode == .binary
  }

  /// What a packet was like in its frames.
  struct Fit {
    /// Whether its bytes were in binary frames only.
    var isBinary: Bool
    /// Whether it began inside a frame, or ended inside one; nil where that can't be told.
    var isUnaligned: Bool?
  }

  /// Takes a packet, which the frames that came last have completed.
  mutating func take(packetOf size: Int) -> Fit {
    let rest = earlier + current - size
    let isCounted = isKnown && rest >= 0 && rest < max(current, 1)
    let isUnaligned = earlier > 0 || !isFresh || rest > 0
    let fit = Fit(isBinary: !hasText, isUnaligned: isCounted ? isUnaligned : nil)
    earlier = 0
    current = max(0, min(rest, current))
    isFresh = false
    // The next packet may begin in the same frame.
    hasText = opcode != .binary && current > 0
    // A packet that ends with its frame shows where the next one begins.
    if rest == 0 { isKnown = true }
    return fit
  }

  /// Takes the news that bytes are missing.
  mutating func lose() {
    isKnown = false
    (earlier, current) = (0, 0)
  }
}

// MQTT over WebSocket: section 6.
extension ConnectionState {
  /// Takes a frame of data that may carry MQTT.
  mutating func carries(
    _ frame: borrowing WebSocketFrameView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard frame.opcode.isDefined, !frame.opcode.isControl else { return }
    let isBinary = ownRare.carriage[event.context.sender].take(frame)
    guard rare?.value.carriage.isMet == true else {
      return ownRare.carriage.hold(event, isBinary: isBinary)
    }
    guard wire.isJudged else { return }
    guard !isBinary else { return tally.satisfy(.packetsInBinaryFrames, hearing) }
    violateCarriage(event, hearing, &tally)
  }

  private func violateCarriage(
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    tally.violate(
      .packetsInBinaryFrames, event, hearing,
      FindingText(
        "the \(event.context.sender.rawValue) sent a TEXT frame on a connection of MQTT",
        expected: "MQTT in BINARY frames", actual: event.seenFrame))
  }

  /// Judges what came before the first packet of a connection.
  mutating func beginCarriage(
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard rare?.value.carriage.isMet != true else { return }
    if let before = rare?.value.carriage {
      before.badFrame?.withView { violateCarriage($0, hearing, &tally) }
      for _ in 0..<before.goodFrames { tally.satisfy(.packetsInBinaryFrames, hearing) }
    }
    ownRare.carriage.meet()
    if rare?.value.webSocket.isEstablished != true {
      for peer in Peer.allCases { ownRare.carriage[peer].lose() }
    }
    judgeSubprotocol(ownRare.webSocket, event, hearing, &tally)
  }

  private func judgeSubprotocol(
    _ webSocket: WebSocketState, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    if let request = webSocket.request {
      if request.subprotocols.contains("mqtt") {
        tally.satisfy(.clientOffersMQTT, hearing)
      } else {
        let offers = WebSocketFault.names(request.subprotocols)
        tally.violate(
          .clientOffersMQTT, event, hearing,
          FindingText(
            "the client's request of frame \(request.moment.frame) does not offer mqtt",
            expected: "the subprotocol mqtt among the offers",
            actual: offers.isEmpty ? "0 subprotocols" : offers))
      }
    } else {
      tally.leave(.clientOffersMQTT, .handshakeNotSeen, hearing)
    }
    guard let response = webSocket.response else {
      return tally.leave(
        .serverAnswersMQTT, webSocket.handshakeReason ?? .handshakeNotSeen, hearing)
    }
    guard response.subprotocol != "mqtt" else { return tally.satisfy(.serverAnswersMQTT, hearing) }
    // It selects what is offered, or nothing (RFC 6455 section 4.2.2).
    guard response.subprotocol != nil || webSocket.request?.subprotocols.contains("mqtt") == true
    else { return tally.leave(.serverAnswersMQTT, .otherAtFault, hearing) }
    tally.violate(
      .serverAnswersMQTT, event, hearing,
      FindingText(
        "the server's answer of frame \(response.moment.frame) does not name mqtt",
        expected: "the subprotocol mqtt",
        actual: response.subprotocol.map { WebSocketFault.names([$0]) } ?? "0 subprotocols"))
  }

  /// Takes a packet out of frames: whether its receiver must close, and whether it must cope.
  /// - Returns: Whether the packet came in a frame after which the receiver must close.
  mutating func unpack(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ hearing: Hearing,
    _ tally: inout Tally
  ) -> Bool {
    let fit = ownRare.carriage[context.sender].take(packetOf: packet.header.packetSize)
    settleUnaligned(by: packet, from: context.sender, hearing, &tally)
    if fit.isUnaligned == true, packet.isSound(context),
      let answer = packet.type.answer(toQoS: packet.qos), !packet.isFailure
    {
      let wait = UnalignedPackets.Wait(
        type: packet.type, answer: answer, packetID: packet.packetID, moment: Moment(context))
      ownRare.carriage.unaligned.add(wait, from: context.sender)
    }
    return !fit.isBinary
  }

  private mutating func settleUnaligned(
    by packet: borrowing MQTTPacketView, from answerer: Peer, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let settled = ownRare.carriage.unaligned.answer(packet.type, packet.packetID, from: answerer)
    for _ in 0..<settled { tally.satisfy(.receiverCopesWithFrames, hearing) }
  }

  /// Judges packets that began or ended inside a frame and were never answered.
  mutating func closeUnaligned(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    for (wait, sender) in rare?.value.carriage.unaligned.waits ?? [] {
      let answerer = sender.other
      let hearing = hearing.of(answerer)
      switch absence(since: wait.moment.time, by: answerer, at: close) {
      case .undecided(let reason):
        tally.leave(.receiverCopesWithFrames, reason, hearing, at: wait.moment)
      case .violation:
        tally.violate(
          .receiverCopesWithFrames, event, hearing,
          FindingText(
            "the \(answerer.rawValue) never answered the \(wait.type.name) of frame "
              + "\(wait.moment.frame), which does not fill its WebSocket frame",
            expected: "\(wait.answer.name)",
            actual: "none in \(close.time.seconds(since: wait.moment.time))"))
      }
    }
  }
}
