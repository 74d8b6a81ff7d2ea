internal import RepriseCore
internal import Wire

/// Violations that hold only if no packet of one side was lost before them.
///
/// That a request is missing is known for sure when the client's stream goes on without a gap, and that an answer is
/// when the server's does: a
/// loss shows only when something behind it comes. Until then the violation waits here.
struct Suspicions {
  private struct Suspicion {
    var rule: RuleIndex
    var event: Event
    var text: FindingText
    /// The identifier whose request is missing.
    var packetID: UInt16?
  }

  private var waiting: [Suspicion] = []
  /// The identifiers of answers that fit no request, and are suspected of nothing.
  private var unmatched: [UInt16] = []
  private static let maximum = 64
  /// About the bytes of its text.
  private static let mostText = 1_024
  /// The most bytes of a packet that wait with it.
  private static let mostBytes = 16 << 10

  var count: Int { waiting.count }

  /// The memory that the violations take, in bytes.
  private(set) var reserved = 0

  var isEmpty: Bool { waiting.isEmpty && unmatched.isEmpty }

  /// Notes an answer whose request may come yet, if both were captured in the wrong order.
  mutating func note(answerTo id: UInt16) {
    if unmatched.count < Self.maximum { unmatched.append(id) }
  }

  /// Forgets the answers whose requests can't come any more.
  mutating func forgetAnswers() { unmatched.removeAll() }

  /// Keeps a violation until it is confirmed; beyond a limit it is left undecided.
  mutating func add(
    _ rule: MQTTRule, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally,
    id: UInt16? = nil,
    _ text: @autoclosure () -> FindingText
  ) {
    add(rule.index(in: hearing.version), event, hearing, &tally, id: id, text())
  }

  mutating func add(
    _ rule: RuleIndex, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally,
    id: UInt16? = nil, _ text: @autoclosure () -> FindingText
  ) {
    guard waiting.count < Self.maximum, tally.addSuspicion() else {
      return tally.leave(rule, .tooMany, hearing)
    }
    waiting.append(
      Suspicion(
        rule: rule,
        event: Event(copying: event.start(of: Self.mostBytes)),
        text: text().shortened, packetID: id))
    reserved += MemoryLayout<Suspicion>.stride + Self.mostText + event.keptBytes(of: Self.mostBytes)
  }

  /// Reports the violations: the stream went on without a gap.
  mutating func confirm(_ hearing: Hearing, _ tally: inout Tally) {
    for suspicion in waiting {
      // What confirms it may come from the other side.
      let hearing = hearing.of(suspicion.event.context.sender)
      suspicion.event.withView { tally.violate(suspicion.rule, $0, hearing, suspicion.text) }
    }
    removeAll(&tally)
  }

  /// Gives up on the violations: bytes of the side are missing, or it was not seen to go on.
  mutating func drop(_ reason: UndecidedReason, _ hearing: Hearing, _ tally: inout Tally) {
    for suspicion in waiting {
      tally.leave(suspicion.rule, reason, hearing.of(suspicion.event.context.sender))
      if let id = suspicion.packetID { note(answerTo: id) }
    }
    removeAll(&tally)
  }

  private mutating func removeAll(_ tally: inout Tally) {
    tally.removeSuspicions(waiting.count)
    waiting.removeAll()
    reserved = 0
  }

  /// Tells whether an answer with an identifier came whose request was not seen.
  func await(_ id: UInt16) -> Bool {
    unmatched.contains(id) || waiting.contains { $0.packetID == id }
  }
}

extension EventView {
  /// How many bytes of the packet or frame are kept by what keeps a start of it.
  fileprivate func keptBytes(of most: Int) -> Int {
    switch body {
    case .mqtt(let packet): min(most, packet.bytes.byteCount)
    case .webSocket(let frame): 2 * min(most, max(frame.data.byteCount, frame.payload.byteCount))
    case .opened, .closed, .attempted, .gap, .malformed, .handshake, .http, .tls: 0
    }
  }
}

extension ConnectionState {
  /// Takes the client's next packet, before which nothing can be missing any more.
  ///
  /// If that is a request itself, answer and request may have been captured in the wrong order.
  mutating func confirmSuspicions(
    by packet: borrowing MQTTPacketView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    defer { ownRare.suspicions.forgetAnswers() }
    switch packet.type {
    case .subscribe, .unsubscribe:
      requests.wasAnsweredEarly =
        packet.packetID.map {
          rare?.value.suspicions.await($0) == true
        } ?? false
      ownRare.suspicions.drop(.capturedLate, hearing, &tally)
    case .publish where packet.packetID.map(ownRare.suspicions.await) == true:
      ownRare.suspicions.drop(.capturedLate, hearing, &tally)
    default: ownRare.suspicions.confirm(hearing, &tally)
    }
  }

  /// Takes the server's next packet, behind which nothing of it can be missing any more.
  mutating func confirmSuspicionsOfServer(
    by packet: borrowing MQTTPacketView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    defer { ownRare.suspicionsOfServer.forgetAnswers() }
    if packet.type == .publish,
      packet.packetID.map(ownRare.suspicionsOfServer.await) == true
    {
      ownRare.suspicionsOfServer.drop(.capturedLate, hearing, &tally)
    } else {
      ownRare.suspicionsOfServer.confirm(hearing, &tally)
    }
  }

  /// Keeps a violation of one side until the other side, of which an answer may be missing, goes on.
  mutating func suspect(
    _ rule: RuleIndex, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally,
    _ text: @autoclosure () -> FindingText
  ) {
    if event.context.sender == .client {
      ownRare.suspicionsOfServer.add(rule, event, hearing, &tally, text())
    } else {
      ownRare.suspicions.add(rule, event, hearing, &tally, text())
    }
  }

  /// Judges what still waits when the connection is over.
  mutating func closeSuspicions(_ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    if rare?.value.suspicionsOfServer.isEmpty == false {
      if close.how == .fin, close.first == .server || close.isAnswered {
        ownRare.suspicionsOfServer.confirm(hearing, &tally)
      } else {
        ownRare.suspicionsOfServer.drop(.serverNotSeenOn, hearing, &tally)
      }
    }
    guard rare?.value.suspicions.isEmpty == false else { return }
    // A FIN of the client has its place behind everything that the client sent.
    if close.how == .fin, close.first == .client {
      ownRare.suspicions.confirm(hearing, &tally)
    } else {
      ownRare.suspicions.drop(.clientNotSeenOn, hearing, &tally)
    }
  }
}
