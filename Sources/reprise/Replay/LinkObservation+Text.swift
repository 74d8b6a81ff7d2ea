import DataClient
import DeviceSDK

extension ObservationText {
  /// Appends one thing that was seen of a link, without a line end, after a header where the date changes.
  mutating func append(_ observation: LinkObservation, to buffer: inout [UInt8]) {
    appendStart(observation.time, observation.place, to: &buffer)
    switch observation.content {
    case .called(let call):
      append("→ ", "\(call.name) \(call.number)", .call, to: &buffer)
      append([call.channel, call.details], to: &buffer)
    case .completed(let call, let error):
      append("← ", "\(call.name) \(call.number)", .call, to: &buffer)
      if let error { append(fault: "\(error)", to: &buffer) } else { append(["ok"], to: &buffer) }
    case .told(.changeState(let event)):
      append("← ", "state", .state, to: &buffer)
      append(Self.fields(of: event), to: &buffer)
    case .told(.tellPresence(let event)):
      append("← ", "presence", .message, to: &buffer)
      append([event.channel, "\(event.kind)"] + event.words, to: &buffer)
    case .told(.deliver(let message)):
      append("← ", "message", .message, to: &buffer)
      let text =
        redaction.topics.isEmpty
        ? message.text.map { "\"\($0)\"" } ?? "\(message.payload.count) bytes, no text"
          // A link does not tell on which topic a message came.
        : RedactionRules.mark
      append([message.channel, message.publisher, text], to: &buffer)
    case .told(.warnOfToken(let event)):
      append("← ", "token", .state, to: &buffer)
      append(["ends at \(event.expires)"], to: &buffer)
    }
  }

  private static func fields(of event: LinkStateEvent) -> [String?] {
    let unrestored = event.unrestored.map(\.channel).joined(separator: ", ")
    return [
      "\(event.previous) → \(event.current)", "\(event.operation)", "\(event.reason)",
      event.isResumed ? "resumed" : nil,
      event.affected.isEmpty ? nil : event.affected.joined(separator: ", "),
      unrestored.isEmpty ? nil : "without \(unrestored)",
      event.detail.isEmpty ? nil : event.detail,
    ]
  }

  /// Appends how a replay ended, without the last line's end.
  func append(_ outcome: LinkReplayOutcome, to buffer: inout [UInt8]) {
    var lines = ["# the session ends: \(outcome.state)"]
    for call in outcome.openCalls {
      let channel = call.channel.map { " \($0)" } ?? ""
      lines.append("# not answered: \(call.name) \(call.number)\(channel)")
    }
    if let unsent = outcome.unsent { lines.append("# the link goes on with \(unsent)") }
    append(outcome.divergence, orElse: lines, to: &buffer)
  }
}

extension LinkPresenceEvent {
  /// Whom it is about, with temporary states, as words.
  fileprivate var words: [String] {
    switch kind {
    case .snapshot: snapshot.map(\.words)
    case .interval:
      interval.joined.map { "+\($0)" } + interval.left.map { "-\($0)" }
        + interval.timedOut.map { "?\($0)" } + interval.states.map(\.words)
    case .remoteJoinChannel, .remoteLeaveChannel, .remoteConnectionTimeout, .remoteStateChanged,
      .errorOutOfService:
      user.map { [$0.words] } ?? []
    }
  }
}

extension LinkPresenceEvent.User {
  fileprivate var words: String {
    ([userID] + states.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }).joined(separator: " ")
  }
}
