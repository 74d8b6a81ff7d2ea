import Wire

/// What the machine says when a replay leaves the session.
extension ReplayMachine {
  func extra(_ action: ClientAction) -> ReplayDivergence {
    ReplayDivergence(
      kind: .extraAction, place: stream.totals.lastPlace, expected: nil,
      actual: action.kind.summary, differences: [], laterPlace: nil,
      remedy: "end the run here, or record a longer session")
  }

  func missing(_ event: Event, _ deadline: Timestamp?) -> ReplayDivergence {
    let expectation = ReplayExpectation(event)
    let waits = deadline.map { "until \($0)" } ?? "without a deadline"
    return ReplayDivergence(
      kind: .missingAction, place: expectation.place, expected: expectation.summary,
      actual: "the reader waits \(waits) and has not performed it", differences: [],
      laterPlace: nil, remedy: inspect(expectation.place))
  }

  /// The action that is due is not performed, and a reader waits for something else.
  mutating func stalled() -> ReplayDivergence? {
    guard let due = expectation() else { return nil }
    return ReplayDivergence(
      kind: .missingAction, place: due.place, expected: due.summary,
      actual:
        "the reader waits for something else, and the session has nothing more before this action",
      differences: [], laterPlace: nil, remedy: inspect(due.place),
      advice: [
        "set ReplayOptions.patience, if the action takes longer to come; record the session anew, "
          + "if the application is right"
      ])
  }

  func notPerformed(_ event: Event, because reason: String) -> ReplayDivergence {
    let expectation = ReplayExpectation(event)
    return ReplayDivergence(
      kind: .missingAction, place: expectation.place, expected: expectation.summary,
      actual: reason, differences: [], laterPlace: nil, remedy: inspect(expectation.place))
  }

  func incomplete(_ event: Event, _ what: String) -> DataClientError {
    let place = ReplayPlace(event.context)
    let sender = event.context.sender.rawValue
    return DataClientError(
      .unreadable,
      "the session is incomplete at \(place): \(what) of the \(sender) are missing, so that nobody "
        + "can say what happened; capture it again without loss, or replay a connection without "
        + "gaps (\(inspect(place)))")
  }

  /// What the session has and the run has not had, oldest first.
  /// - Parameter limit: The most to return.
  /// - Returns: Actions that were not performed and events that were not handed out.
  mutating func leftOvers(limit: Int) -> [ReplayExpectation] {
    guard hasNextAction || (try? stream.entry(at: position)) != nil else { return [] }
    var result: [ReplayExpectation] = []
    stream.scan(from: position) { number, entry in
      let isLeft =
        switch entry.role {
        case .action: number >= acted && !stream.outlook.isTaken(number)
        case .fromServer: entry.event.isForUser
        case .closing: entry.event.isToldEnd
        case .hole, .nothing: false
        }
      guard isLeft, !over.contains(entry.event.context.connection) else { return true }
      result.append(ReplayExpectation(entry))
      return result.count < limit
    }
    return result
  }

  /// How many left-overs are told of.
  static let leftOverLimit = 1_000

  func leftOver(_ left: [ReplayExpectation]) -> ReplayDivergence? {
    guard let first = left.first else { return nil }
    let limit = Self.leftOverLimit
    let count = left.count > limit ? "more than \(limit)" : "\(left.count)"
    let more = left.count > 1 ? "\(count) events are left over, the first is this" : nil
    return ReplayDivergence(
      kind: .leftOver, place: first.place, expected: first.summary, actual: more, differences: [],
      laterPlace: nil, remedy: inspect(first.place))
  }

  /// The command that shows a place.
  func inspect(_ place: ReplayPlace) -> String {
    place.inspection(of: options.source ?? "FILE")
  }
}

extension MQTTPacketView {
  /// Why the server does not want what the packet answers (5.0 sections 3.4.2, 3.5.2 and 3.11.3); nil
  /// when it takes it.
  ///
  /// PUBCOMP refuses nothing: the server has the message since its PUBREC.
  var refusal: ActionFailure? {
    let code: UInt8? =
      switch type {
      case .puback, .pubrec: reasonCode
      case .unsuback: Array(copying: reasonCodes).first { $0 >= 0x80 }
      default: nil
      }
    guard let code, code >= 0x80, version.rules.hasProperties else { return nil }
    return .refused(code: code, reason: properties.string(.reasonString, in: bytes))
  }
}

extension MQTTPropertiesView {
  /// The text of a property, where it first stands.
  fileprivate func string(_ id: MQTTPropertyID, in bytes: RawSpan) -> String? {
    var rest = self
    while let property = rest.next() {
      if property.id == id { return String(copying: property.bytes(in: bytes)) }
    }
    return nil
  }
}
