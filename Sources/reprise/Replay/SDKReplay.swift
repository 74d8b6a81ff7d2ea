import DataClient
import DeviceSDK

/// A replay of whichever system of the SDK a session is of.
enum SDKReplay: Sendable {
  /// The long connection of an app.
  case channel(ChannelReplay)
  /// A link of the message service, or of a stream channel.
  case link(LinkReplay)

  /// Whose session it is, for people: `app dev1&a1pk`.
  var subject: String {
    switch self {
    case .channel(let replay): return "app \(replay.plan.identity.clientID)"
    case .link(let replay):
      let configuration = replay.plan.configuration
      let channel = replay.plan.streamChannel.map { ", stream channel \($0)" } ?? ""
      return "user \(configuration.userID) of app \(configuration.appID)\(channel)"
    }
  }

  /// What was taken for granted.
  var notes: [String] {
    switch self {
    case .channel(let replay): replay.plan.notes
    case .link(let replay): replay.plan.notes
    }
  }

  /// Runs the replay, and writes what is seen.
  /// - Parameter lines: The writer.
  /// - Returns: How it ended.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  func run(_ lines: ObservationLines) async throws -> SDKReplayOutcome {
    switch self {
    case .channel(let replay): .channel(try await replay.run(lines.write))
    case .link(let replay): .link(try await replay.run(lines.write))
    }
  }
}

/// How a replay ended.
enum SDKReplayOutcome: Sendable {
  /// That of the long connection of an app.
  case channel(ChannelReplayOutcome)
  /// That of a link.
  case link(LinkReplayOutcome)

  /// Where the SDK left the session; nil when it went through it.
  var divergence: ReplayDivergence? {
    switch self {
    case .channel(let outcome): outcome.divergence
    case .link(let outcome): outcome.divergence
    }
  }
}
