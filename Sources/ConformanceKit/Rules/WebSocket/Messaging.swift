internal import RepriseCore
internal import Wire

/// The message that the next fragment of a side goes on with.
enum MessageFacts {
  case none
  /// Frames before the capture, or lost ones, may have opened one.
  case unknown
  case open(opcode: WebSocketOpcode, text: Text)

  /// What is known of the text of a message.
  enum Text {
    /// It is no text, or its fault was reported.
    case settled
    /// All of it was read so far.
    case readable
    case unreadable(UndecidedReason)
  }
}

// Messages and their fragments: sections 5.4, 5.6 and 6.1.
extension WebSocketState {
  /// Judges a frame of data.
  mutating func takeData(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    judgeOpenness(frame, faults, event, hearing, &tally)
    judgeFragment(frame, faults, event, hearing, &tally)
    var message = self[sender].message
    if frame.opcode != .continuation {
      message = .open(opcode: frame.opcode, text: frame.opcode == .text ? .readable : .settled)
    }
    if case .open(let opcode, var text) = message {
      judgeText(&text, frame, faults, event, hearing, &tally)
      message = .open(opcode: opcode, text: text)
    }
    guard frame.header.isFinal else {
      self[sender].message = message
      return
    }
    if case .open = message {
      tally.satisfy(.lastFrameHasFIN, hearing)
      if frame.opcode == .continuation { self[sender].hasFragments = true }
    }
    self[sender].message = .none
  }

  /// Data is for the time between the handshake and the sender's Close frame.
  private mutating func judgeOpenness(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    if let fault = faults[.dataAfterClose] {
      self[sender].sentAfterClose = true
      tally.judge(.nothingAfterClose, fault, "no data behind a Close frame", frame, event, hearing)
      tally.judge(.dataOnlyWhileOpen, fault, "no data behind a Close frame", frame, event, hearing)
      return
    }
    if let reason = handshakeReason { return tally.leave(.dataOnlyWhileOpen, reason, hearing) }
    guard let response, request != nil else {
      return tally.leave(.dataOnlyWhileOpen, .requestNotSeen, hearing)
    }
    // What is missing behind its Close frame may be the end of the connection, and the start of the next.
    if self[sender].hasGapBehindClose {
      return tally.leave(.dataOnlyWhileOpen, .gap(of: sender), hearing)
    }
    guard faults[.beforeAnswer] != nil else { return tally.satisfy(.dataOnlyWhileOpen, hearing) }
    let text = FindingText(
      "the client sent a \(frame.opcode.name) frame before the answer to its request came",
      expected: "nothing before the answer of frame \(response.moment.frame)",
      actual: "a frame in frame \(event.context.frame)")
    tally.violate(.dataOnlyWhileOpen, event, hearing, text)
  }

  private func judgeFragment(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    switch (self[event.context.sender].message, frame.opcode) {
    case (.open, .continuation):
      for rule in [FrameRule.messagesAreNotMixed, .continuationContinues, .fragmentsKeepType] {
        tally.satisfy(rule, hearing)
      }
    case (.open(let opcode, _), _):
      let fault = faults[.messageInsideMessage]
      let expected = "a CONTINUATION frame up to the last fragment"
      // An extension may have been agreed on by which messages are mixed.
      if case .other = negotiation {
        tally.leave(.messagesAreNotMixed, .unknownExtension, hearing)
        if opcode != frame.opcode { tally.leave(.fragmentsKeepType, .unknownExtension, hearing) }
        tally.leave(.lastFrameHasFIN, .unknownExtension, hearing)
      } else {
        tally.judge(.messagesAreNotMixed, fault, expected, frame, event, hearing)
        if opcode != frame.opcode {
          tally.judge(.fragmentsKeepType, fault, expected, frame, event, hearing)
        }
        tally.judge(
          .lastFrameHasFIN, fault, "FIN in the last frame of a message", frame, event, hearing)
      }
      tally.satisfy(.firstFrameHasType, hearing)
    case (.none, .continuation):
      let fault = faults[.continuationOfNothing]
      if case .other = negotiation {
        tally.leave(.continuationContinues, .unknownExtension, hearing)
        return tally.leave(.firstFrameHasType, .unknownExtension, hearing)
      }
      tally.judge(
        .continuationContinues, fault, "a message to go on with", frame, event, hearing)
      tally.judge(
        .firstFrameHasType, fault, "TEXT or BINARY in the first frame of a message", frame, event,
        hearing)
    case (.unknown, .continuation):
      let reason = handshakeReason ?? .gap(of: event.context.sender)
      tally.leave(.continuationContinues, reason, hearing)
    case (.none, _), (.unknown, _): tally.satisfy(.firstFrameHasType, hearing)
    }
  }

  private func judgeText(
    _ text: inout MessageFacts.Text, _ frame: borrowing WebSocketFrameView,
    _ faults: FrameFaults, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if let fault = faults[.invalidText] {
      tally.judge(.textIsUTF8, fault, "a message in UTF-8", frame, event, hearing)
      text = .settled
      return
    }
    switch text {
    case .settled: return
    case .unreadable(let reason):
      if frame.header.isFinal { tally.leave(.textIsUTF8, reason, hearing) }
      return
    case .readable: break
    }
    if let reason = Self.obstacle(to: frame) {
      text = frame.header.isFinal ? .settled : .unreadable(reason)
      if frame.header.isFinal { tally.leave(.textIsUTF8, reason, hearing) }
    } else if frame.header.isFinal {
      tally.satisfy(.textIsUTF8, hearing)
    }
  }

  /// Why the text of a frame can't be read, or nil.
  private static func obstacle(to frame: borrowing WebSocketFrameView) -> UndecidedReason? {
    if case .kept = frame.compression { return .notInflated }
    if frame.missing > 0 { return .incompletePacket }
    // Bits of an extension that is not known may stand for anything that was done to the payload.
    let bits = frame.header.reservedBits
    let isRead = frame.compression == .inflated ? bits & 0b011 == 0 : bits == 0
    return isRead ? nil : .unknownExtension
  }

  // MARK: Losses and the end

  /// Gives up on the message that is open when bytes are missing.
  mutating func loseMessage(of peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    if case .open(_, let text) = self[peer].message, text.isOpen {
      tally.leave(.textIsUTF8, .gap(of: peer), hearing)
    }
    self[peer].message = .unknown
  }

  /// Leaves a message undecided that was never ended: who closes gives up what is under way.
  mutating func closeMessage(of peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    guard case .open(_, let text) = self[peer].message else { return }
    let hearing = hearing.of(peer)
    tally.leave(.lastFrameHasFIN, .messageGivenUp, hearing)
    if text.isOpen { tally.leave(.textIsUTF8, .messageGivenUp, hearing) }
    self[peer].message = .none
  }
}

extension MessageFacts.Text {
  /// Whether nothing was said of it yet.
  var isOpen: Bool {
    switch self {
    case .settled: false
    case .readable, .unreadable: true
    }
  }
}
