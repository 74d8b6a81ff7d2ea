internal import RepriseCore
internal import Wire

// Close frames and what follows them: sections 5.5.1, 7.1 and 7.4.
extension WebSocketState {
  /// Judges a Close frame.
  mutating func takeClose(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    judgeBody(frame, faults, event, hearing, &tally)
    let sender = event.context.sender
    guard self[sender].close == nil else { return }
    self[sender].close = Moment(event.context)
    tally.satisfy(
      self[sender.other].close == nil ? .closingBeginsWithClose : .closeIsAnswered, hearing)
  }

  private func judgeBody(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard frame.header.payloadLength > 0 else { return }
    let fault = faults[.halfCloseCode] ?? faults[.invalidReason]
    if fault == nil, frame.missing > 0 {
      tally.leave(.closeBodyHasCode, .incompletePacket, hearing)
    } else {
      tally.judge(
        .closeBodyHasCode, fault, "a status code of two bytes and a reason in UTF-8", frame, event,
        hearing)
    }
    guard let code = frame.closeCode else { return }
    let reserved: [(UInt16, FrameRule)] = [
      (1005, .noCode1005), (1006, .noCode1006), (1015, .noCode1015),
    ]
    for (number, rule) in reserved {
      let fault = code == number ? faults[.invalidCloseCode] : nil
      tally.judge(rule, fault, "another code than \(number)", frame, event, hearing)
    }
    // Those three are registered; that they must not be sent is said above.
    guard !reserved.contains(where: { $0.0 == code }) else { return }
    guard faults[.invalidCloseCode] != nil else { return tally.satisfy(.codeIsDefined, hearing) }
    let sender = event.context.sender
    tally.violate(
      .codeIsDefined, event, hearing,
      FindingText(
        "the \(sender.rawValue) sent a CLOSE frame with a status code that is not defined",
        expected: "a registered code, or one of 3000 to 4999", actual: "\(code)"))
  }

  /// Looks whether a side goes on long after both Close frames.
  mutating func noteLife(
    of sender: Peer, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let closed = bothClosed, !self[sender].livesOn else { return }
    guard clockDoubt == nil, event.context.time.isLate(since: closed.time) else { return }
    guard !self[sender].hasGapBehindClose else { return }
    self[sender].livesOn = true
    tally.violate(
      .connectionIsClosed, event, hearing,
      FindingText(
        "the \(sender.rawValue) goes on sending more than 30 s after both CLOSE frames",
        expected: "the end of the TCP connection", actual: event.seenFrame))
  }

  /// The second of two Close frames, if both sides have sent one.
  private var bothClosed: Moment? {
    guard let first = self[.client].close, let second = self[.server].close else { return nil }
    return first.time > second.time ? first : second
  }

  // MARK: The end of the connection

  /// Judges whether a side kept its word that nothing more would come.
  func closeSilence(of peer: Peer, _ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    guard self[peer].close != nil, !self[peer].sentAfterClose else { return }
    let hearing = hearing.of(peer)
    if close.how == .endOfCapture {
      tally.leave(.nothingAfterClose, .endOfCapture, hearing)
    } else if self[peer].isDeaf || self[peer].hasGapBehindClose {
      tally.leave(.nothingAfterClose, .gap(of: peer), hearing)
    } else {
      tally.satisfy(.nothingAfterClose, hearing)
    }
  }

  /// Judges how the connection came to its end.
  ///
  /// An end may delay its answer until its message is sent (`isDelayed`).
  func closeClosing(
    _ close: Closing, isDelayed: Bool, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    switch (self[.client].close, self[.server].close) {
    case (nil, nil): closeWithoutFrame(close, event, hearing, &tally)
    case (let first?, nil):
      closeUnanswered(first, by: .server, isDelayed: isDelayed, close, event, hearing, &tally)
    case (nil, let first?):
      closeUnanswered(first, by: .client, isDelayed: isDelayed, close, event, hearing, &tally)
    case (_?, _?): closeBoth(close, event, hearing, &tally)
    }
  }

  /// Neither side sent a Close frame, which is how an endpoint may fail a connection, but not end it.
  private func closeWithoutFrame(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = FrameRule.closingBeginsWithClose
    let first = close.first
    let hearing = hearing.of(first)
    let wasOpen = isEstablished || self[.client].lastTime != nil || self[.server].lastTime != nil
    guard wasOpen, response?.accepts != false else { return }
    switch close.how {
    case .endOfCapture: return
    case .reset: return tally.leave(rule, .wasReset, hearing)
    case .fin: break
    }
    guard !self[first].mayHaveClosed else { return tally.leave(rule, .gap(of: first), hearing) }
    guard !self[first.other].mayHaveClosed else {
      return tally.leave(rule, .gap(of: first.other), hearing)
    }
    guard !self[first.other].isAtFault, !tally.blamed.contains(Blame(first.other)) else {
      return tally.leave(rule, .otherAtFault, hearing)
    }
    // Whose only direction was captured may answer a Close frame that was not.
    guard response != nil || self[first.other].lastTime != nil else {
      return tally.leave(rule, .gap(of: first.other), hearing)
    }
    // The other side may have answered too late, or not at all, which is left open then.
    if let clockDoubt { return tally.leave(rule, clockDoubt, hearing) }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(first.rawValue) closed the TCP connection without a CLOSE frame",
        expected: "a CLOSE frame before the end",
        actual: "FIN, and 0 CLOSE frames of either side"))
  }

  private func closeUnanswered(
    _ first: Moment, by answerer: Peer, isDelayed: Bool, _ close: Closing,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = FrameRule.closeIsAnswered
    let hearing = hearing.of(answerer)
    guard !self[answerer].mayHaveClosed else {
      return tally.leave(rule, .gap(of: answerer), hearing)
    }
    // A FIN alone, however late, may be that of a proxy whose server is gone.
    switch absence(since: first.time, by: answerer, at: close) {
    case .undecided(let reason): tally.leave(rule, reason, hearing, at: first)
    case .violation where isDelayed: tally.leave(rule, .messageOpen, hearing, at: first)
    case .violation:
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the \(answerer.rawValue) never answered the CLOSE of frame \(first.frame), though it went "
            + "on for more than 30 s", expected: "a CLOSE frame",
          actual: "none in \(close.time.seconds(since: first.time))"))
    }
  }

  private func closeBoth(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let closed = bothClosed else { return }
    let rules: [FrameRule] = [.connectionIsClosed, .serverClosesAtOnce]
    guard close.how != .endOfCapture else {
      for rule in rules { tally.leave(rule, .endOfCapture, hearing) }
      return
    }
    if let peer = Peer.allCases.first(where: { self[$0].hasGapBehindClose }) {
      for rule in rules { tally.leave(rule, .gap(of: peer), hearing) }
      return
    }
    if !self[.client].livesOn, !self[.server].livesOn {
      tally.satisfy(.connectionIsClosed, hearing)
    }
    guard knowsRoles else { return tally.leave(.serverClosesAtOnce, .rolesInferred, hearing) }
    switch (close.first, close.time.isLate(since: closed.time)) {
    case (.server, false): tally.satisfy(.serverClosesAtOnce, hearing)
    case (.client, false): tally.leave(.serverClosesAtOnce, .clientClosedFirst, hearing)
    // A FIN of the server may be among what is missing.
    case (_, true) where self[.server].isDeaf: tally.leave(.serverClosesAtOnce, .serverGap, hearing)
    case (_, true) where clockDoubt != nil:
      tally.leave(.serverClosesAtOnce, clockDoubt ?? .clocksDiffer, hearing)
    case (_, true) where !close.showsLateness(of: .server, since: closed.time):
      tally.leave(.serverClosesAtOnce, .endCapturedLate, hearing)
    case (_, true):
      tally.violate(
        .serverClosesAtOnce, event, hearing,
        FindingText(
          "the server left the connection open for more than 30 s after both CLOSE frames",
          expected: "the server closes the TCP connection at once",
          actual: "\(close.how == .reset ? "RST" : "FIN") of the \(close.first.rawValue) after "
            + close.time.seconds(since: closed.time)))
    }
  }
}
