internal import RepriseCore
internal import Wire

/// A connection whose client connected again.
struct Takeover {
  /// The CONNACK of the newer connection.
  let moment: Moment
  let connection: Int
}

// The older connection of a client identifier: section 3.1.4.
extension BrokerJudge {
  /// How long after the newer CONNACK the server may go on, in nanoseconds: what it had written may be on its way.
  private static let patience: Int64 = 5_000_000_000

  /// Looks at a packet of the server on a connection that was taken over.
  ///
  /// What it had written before may be on its way for long, as where its receiver is slow, or comes back: only an answer to
  /// what came behind shows that it goes on.
  mutating func judgeTakenOver(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let takeover = takenOver[event.context.connection], !state.clocks.differ,
      packet.type.isAnswerOfServer, let asked = state.client.lastTime,
      asked.nanoseconds(since: takeover.moment.time) > Self.patience
    else { return }
    takenOver[event.context.connection] = nil
    tally.violate(
      .olderConnectionEnds, event, hearing,
      FindingText(
        "the server still serves a connection whose client connected again in frame "
          + "\(takeover.moment.frame)",
        expected: "the older connection is closed",
        actual: "open \(event.context.time.seconds(since: takeover.moment.time)) later",
        evidence: [takeover.evidence]))
  }

  /// Judges how a connection ended that was taken over.
  mutating func closeTakeover(
    _ close: Closing, _ event: borrowing EventView, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let takeover = takenOver.removeValue(forKey: event.context.connection) else { return }
    let rule = MQTTRule.olderConnectionEnds
    let isLate = close.time.isLate(since: takeover.moment.time)
    var older: [Finding.Evidence] = []
    if let connect = state.opening.connect?.moment {
      older = hearing.evidence(connect, "CONNECT of the older connection")
    }
    if close.how == .endOfCapture {
      tally.leave(rule, .endOfCapture, hearing)
    } else if isLate, state.clocks.differ {
      tally.leave(rule, state.clocks.doubt, hearing)
    } else if isLate, !close.showsLateness(of: .server, since: takeover.moment.time) {
      tally.leave(rule, .endCapturedLate, hearing)
    } else if isLate, let last = state.server.lastTime, last > takeover.moment.time {
      // The end may have waited behind what the server had written, as where its receiver is slow.
      tally.leave(rule, .stillSending, hearing)
    } else if isLate, close.isAnswered, close.how == .fin {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the server left the connection open for more than 30 s after its client had connected "
            + "again in frame \(takeover.moment.frame)",
          expected: "the older connection is closed",
          actual: "open for \(close.time.seconds(since: takeover.moment.time))",
          evidence: older + [takeover.evidence]))
    } else if close.first == .client {
      tally.leave(rule, .clientClosedFirst, hearing)
    } else {
      tally.satisfy(rule, hearing)
    }
  }
}

extension MQTTPacketType {
  /// Whether a server sends it for something that the client has sent.
  fileprivate var isAnswerOfServer: Bool {
    switch self {
    case .puback, .pubrec, .pubcomp, .suback, .unsuback, .pingresp: true
    case .connect, .connack, .publish, .pubrel, .subscribe, .unsubscribe, .pingreq, .disconnect,
      .auth, .reserved:
      false
    }
  }
}

extension Takeover {
  fileprivate var evidence: Finding.Evidence {
    Finding.Evidence(
      frame: moment.frame, connection: connection, role: "CONNACK of the newer connection")
  }
}
