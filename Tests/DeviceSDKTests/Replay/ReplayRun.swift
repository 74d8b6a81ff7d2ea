import AppSessions
import DeviceSDK
import RepriseCore
import SDKReplay
import Synchronization

/// Runs a replay, and takes down what is seen of it in lines.
struct ReplayRun {
  var lines: [String] = []
  var places: [String] = []
  var outcome: ReplayOutcome<ChannelPlan>

  init(_ events: ReplayEvents, options: ReplayOptions = ReplayOptions()) async throws {
    let seen = Mutex<[SystemReplay<ChannelPlan>.Observation]>([])
    let replay = try SystemReplay<ChannelPlan>(events, options: options)
    outcome = try await replay.run { observation in seen.withLock { $0.append(observation) } }
    for observation in seen.withLock({ $0 }) {
      lines.append(Self.line(observation.content))
      let place = observation.place.map { "\($0.frame)" } ?? "-"
      places.append("\(place) \(Self.line(observation.content))")
    }
  }

  init(_ recording: [UInt8], options: ReplayOptions = ReplayOptions()) async throws {
    try await self.init(try AppSession.events(recording), options: options)
  }

  static func line(_ content: SystemReplay<ChannelPlan>.Observation.Content) -> String {
    switch content {
    case .called(let call):
      [call.name, call.subject, call.details.map(text)].compactMap(\.self).joined(separator: " ")
    case .completed(let call, .success(.reply(let reply))):
      "\(call.name) ok" + (reply.data.map { " " + text($0) } ?? "")
    case .completed(let call, .success(.done)), .completed(let call, .success(.topics)):
      "\(call.name) ok"
    case .completed(let call, .failure(let error)): "\(call.name) error \(code(error))"
    case .told(.changeState(let change)):
      "state \(change.state)" + (change.error.map { " " + code($0) } ?? "")
        + (change.isFinal ? " final" : "")
    case .told(.changeAccount(let state)): "account \(state.rawValue)"
    case .told(.deliver(let message)): "message \(message.topic)"
    case .told(.forward(let message)): "foreign \(message.topic)"
    case .told(.log(let entry)): "note \(entry.message)"
    }
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.utf8, as: UTF8.self)
  }

  private static func code(_ error: ChannelError) -> String {
    error.cloudCode.map { "\(error.kind.rawValue)/\($0)" } ?? "\(error.kind.rawValue)"
  }
}
