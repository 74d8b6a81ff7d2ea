import RepriseCore
import Wire

extension Storyteller {
  mutating func close(
    _ closing: ConnectionClosing, _ context: EventContext, _ connection: StoryConnection,
    _ tell: Tell
  ) throws {
    let end = connection.course.end(closing, by: context.sender)
    var place = context
    (place.frame, place.time) = (context.place(of: closing.firstFrame), closing.firstTime)
    try tellUnanswered(connection, place, tell)
    let why = words(end, closing, connection)
    var text = Self.manner(closing, by: context.sender)
    switch end.cause {
    // What DISCONNECT and CONNACK say is told by their own sentences.
    case .disconnected, .refused, .endOfCapture: break
    case .fin, .reset:
      text += connection.course.isMQTT ? " without DISCONNECT" : ""
      text += "; the capture does not show why"
    default: text += "; \(why)"
    }
    try say(place, text, as: .ending, tell)
    note(end, why: "connection \(context.connection): \(why)", at: place)
    guard let will = connection.will, end.publishesWill else { return }
    keepWill(will.topic, will.payload, place)
  }

  /// How a connection was closed, by whoever did.
  private static func manner(_ closing: ConnectionClosing, by peer: Peer) -> String {
    let reason = closing.reason.map { " (\($0))" } ?? ""
    switch (closing.how, peer) {
    case (.fin, .client): return "closes the connection\(reason)"
    case (.fin, .server): return "the server closes the connection\(reason)"
    case (.reset, .client): return "resets the connection\(reason)"
    case (.reset, .server): return "the server resets the connection\(reason)"
    case (.endOfCapture, _): return "is still connected when the capture ends\(reason)"
    }
  }

  /// Why a connection was closed, as far as the capture shows it.
  private func words(
    _ end: ConnectionEnd, _ closing: ConnectionClosing, _ connection: StoryConnection
  ) -> String {
    let course = connection.course
    switch end.cause {
    case .disconnected:
      return end.peer == .client
        ? "the client sent DISCONNECT" + end.reason(in: .disconnect)
        : "the server sent DISCONNECT" + end.reason(in: .disconnect)
    case .refused: return "the server refused it by CONNACK" + end.reason(in: .connack)
    case .takenOver:
      guard let rival = course.rival else {
        return "the server says that the session was taken over"
      }
      let time = StoryWords.after(rival.time, closing.firstTime).map { ", \($0) before" } ?? ""
      return "the server closed it after its client had connected again, on connection "
        + "\(rival.connection) in frame \(rival.frame)\(time)"
    case .keepAlive: return keepAlive(closing, course, isTold: end.code != nil)
    case .fault:
      let who = end.peer == .server ? ("server", "client") : ("client", "server")
      return
        "the \(who.0) closed it behind a message of the \(who.1) that can't be read or breaks the format; "
        + "the capture does not show more"
    case .webSocketClose:
      let code = end.code.map { " with code \($0)" } ?? ""
      return "the \(end.peer?.rawValue ?? "other end") sent a Close frame\(code)"
    case .alert: return end.text
    case .fin:
      let without = course.isMQTT ? " without DISCONNECT" : ""
      return
        "the \(end.peer?.rawValue ?? "other end") closed it\(without); the capture does not show why"
    case .reset:
      return "the \(end.peer?.rawValue ?? "other end") reset it; the capture does not show why"
    case .endOfCapture: return "it was still open when the capture ended"
    case .unknown: return "bytes are missing before its end, so the capture does not show why"
    case .failedAttempt: return end.text
    }
  }

  private func keepAlive(
    _ closing: ConnectionClosing, _ course: ConnectionCourse, isTold: Bool
  ) -> String {
    let silence = course.lastOfClient.flatMap { StoryWords.after($0, closing.firstTime) }
    let told = isTold ? "the server says that the keep-alive ran out" : "the keep-alive ran out"
    return
      "\(told): nothing came from the client for \(silence ?? "a time that is not known"), and "
      + "its keep-alive is \(course.keepAlive.map { "\($0) s" } ?? "not known")"
  }

  /// Tells what had no answer when the connection ended.
  private mutating func tellUnanswered(
    _ connection: StoryConnection, _ context: EventContext, _ tell: Tell
  ) throws {
    for kind in ExchangeKind.allCases where kind != .delivering {
      for asker in Peer.allCases {
        let outcomes = connection.unanswered.filter {
          $0.kind == kind && $0.asker == asker && $0.result != .undecided
        }
        guard let first = outcomes.first else { continue }
        let who = asker == .client ? "the server" : "the client"
        let isClosed = first.result == .unanswered
        try say(
          context,
          "\(who) has not answered \(StoryWords.plural(outcomes.count, "question")) "
            + "(\(kind.title)), the first in frame \(first.frame), when the "
            + (isClosed ? "connection is closed" : "capture ends"), as: .ending, tell)
      }
    }
  }

  // MARK: Conclusions

  /// Why the last connection was closed, in a line.
  package var closingLine: String {
    guard let lastEnd else { return "No connection was closed as far as the capture shows." }
    return "Closed: \(lastEnd)."
  }

  /// What was slow, in a line.
  package var slowLine: String {
    guard let slowest else { return "Slow: no answer whose time the capture shows." }
    let times = times(of: slowest.outcome.kind)
    let median = times.quantile(0.5).map(Quantities.duration) ?? "?"
    let others =
      times.count > 1 ? "; half of \(Quantities.count(times.count)) took \(median) at most" : ""
    return "Slow: \(slowest.outcome.kind.title) of frame \(slowest.outcome.frame), connection "
      + "\(slowest.connection), took \(Quantities.duration(slowest.nanoseconds))\(others)."
  }

  /// How all connections ended, in a line each; empty for a single one.
  package var endLines: [String] {
    guard connectionCount > 1 else { return [] }
    return ends.sorted { ($1.value, $0.key.text) < ($0.value, $1.key.text) }.map {
      "\(Quantities.count($0.value)) of \(Quantities.count(connectionCount)) connections: \($0.key.text)."
    }
  }
}

extension ConnectionEnd {
  /// Whether a server publishes the will of a client whose connection ends so (MQTT 5.0 section 3.1.2.5).
  fileprivate var publishesWill: Bool {
    switch cause {
    case .disconnected: peer == .server || (code ?? 0) != 0
    case .refused, .endOfCapture, .failedAttempt: false
    case .takenOver, .keepAlive, .fault, .webSocketClose, .alert, .fin, .reset, .unknown: true
    }
  }
}
