import DeviceSDK
import RepriseCore
import SDKReplay
import SessionView
import Synchronization

/// Takes down the steps of a replayed system, to be looked at in any order.
final class StepRecorder: Sendable {
  private struct State {
    var steps: ViewedSteps
    var text: ObservationText
    /// The first step whose state is not known yet.
    var unsettled = 0
  }

  private let state: Mutex<State>
  private let redaction: RedactionRules
  /// Beyond so many steps none are kept: each has all of the machine's state.
  private static let mostSteps = 100_000

  /// Creates a recorder.
  /// - Parameters:
  ///   - file: The file of the session.
  ///   - subject: Whose session it is.
  ///   - options: The words that run the viewer.
  ///   - redaction: What is not shown.
  init(_ file: String, subject: String, options: String, redaction: RedactionRules) {
    self.redaction = redaction
    let text = ObservationText(
      file: file, subject: subject, usesColor: true, redaction: redaction)
    state = Mutex(
      State(steps: ViewedSteps(file, subject: subject, options: options), text: text))
  }

  /// What was taken down.
  var steps: ViewedSteps { state.withLock { $0.steps } }

  /// What hands steps to the recorder.
  func watch<Plan: ShownPlan>() -> ReplayWatch<Plan> {
    ReplayWatch(
      received: { [self] event, cause in
        guard let line = Self.line(of: event) else { return }
        add("received", line, cause.time, cause.place)
      },
      performed: { [self] action, cause in
        let line = ShownLine(
          direction: "⇒ ", name: action.name, style: .call,
          fields: [Self.rest(of: action.summary, behind: action.name)])
        add("performed", line, cause.time, cause.place)
      },
      settled: { [self] machine, _ in settle(machine.outline) })
  }

  /// Takes something that the application did or was told.
  func take<Plan: ShownPlan>(_ observation: SystemReplay<Plan>.Observation, of plan: Plan.Type) {
    let kind =
      switch observation.content {
      case .called: "called"
      case .completed: "completed"
      case .told: "told"
      }
    add(kind, observation.time, observation.place) { text, bytes in
      text.append(observation, of: plan, to: &bytes)
    }
  }

  /// Takes how the replay ended.
  func finish<Plan: ShownPlan>(_ outcome: ReplayOutcome<Plan>) {
    settle(outcome.machine.outline)
    guard let divergence = outcome.divergence else { return }
    var line = ShownLine(direction: "  ", name: "DIVERGED", style: .fault)
    line.fault = "the SDK leaves the session"
    add("diverged", line, outcome.time, divergence.place)
    settle(outcome.machine.outline)
    let words = "\(divergence)".split(separator: "\n").map { redaction.shown(String($0)) }
    state.withLock { state in
      if !state.steps.steps.isEmpty { state.steps.steps[state.steps.count - 1].fault = words }
    }
  }

  // MARK: Taking down

  private func add(
    _ kind: String, _ line: ShownLine, _ time: Timestamp, _ place: ReplayPlace?
  ) {
    add(kind, time, place) { text, bytes in text.append(line, at: time, place, to: &bytes) }
  }

  private func add(
    _ kind: String, _ time: Timestamp, _ place: ReplayPlace?,
    _ write: (inout ObservationText, inout [UInt8]) -> Void
  ) {
    state.withLock { state in
      guard state.steps.count < Self.mostSteps else { return }
      var bytes: [UInt8] = []
      write(&state.text, &bytes)
      // Above the line stands the date.
      let line = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes[($0 + 1)...] } ?? bytes[...]
      state.steps.steps.append(.init(kind, at: time, place, line: Array(line)))
    }
  }

  private func settle(_ outline: MachineOutline) {
    state.withLock { state in
      let entries = outline.entries.map { entry in
        ViewedSteps.State(entry.name, redaction.shown(entry.value), until: entry.until)
      }
      for index in state.unsettled..<state.steps.count {
        state.steps.steps[index].state = entries
      }
      state.unsettled = state.steps.count
    }
  }

  // MARK: Words

  /// What the client tells, as a line; nil for what says nothing.
  private static func line(of event: ClientEvent) -> ShownLine? {
    func line(_ name: String, _ style: ObservationText.Style, _ fields: String?...) -> ShownLine {
      ShownLine(direction: "⇐ ", name: name, style: style, fields: fields)
    }
    switch event {
    case .connected: return line("CONNACK", .state)
    case .subscribed(_, let granted):
      let codes = granted.map { $0.map { "qos \($0.rawValue)" } ?? "refused" }
      return line("SUBACK", .quiet, codes.joined(separator: "  "))
    case .unsubscribed: return line("UNSUBACK", .quiet)
    case .published: return line("sent", .quiet)
    case .message(let message):
      return line("PUBLISH", .message, message.topic, "\(message.payload.count) B")
    case .text(let text): return line("TEXT", .message, "\(text.utf8.count) B")
    case .binary(let bytes): return line("BINARY", .message, "\(bytes.count) B")
    case .response(_, let response):
      return line("RESPONSE", .message, "\(response.status)", "\(response.body.count) B")
    case .failed(_, let failure): return line("failed", .fault, "\(failure)")
    case .closed(let closed): return line("closed", .fault, "\(closed)")
    case .deadline: return line("timer", .quiet)
    case .woken, .ended: return nil
    }
  }

  /// A summary without the name that it begins with.
  private static func rest(of summary: String, behind name: String) -> String {
    guard summary.hasPrefix(name) else { return summary }
    return String(summary.dropFirst(name.count).drop { $0 == " " })
  }
}

extension SystemReplay where Plan: ShownPlan {
  func run(_ recorder: StepRecorder) async throws {
    let outcome = try await run(watch: recorder.watch()) { (observation: Observation) in
      recorder.take(observation, of: Plan.self)
    }
    recorder.finish(outcome)
  }
}
