import RepriseCore
import Synchronization

/// The stream channels that are joined, each with a client and a driver of its own.
final class LinkStreams: Sendable {
  /// The life of one stream channel's link.
  final class Run: Sendable {
    let driver: Driver<StreamLinkMachine>
    private let life: AsyncStream<Never>
    private let lifetime: AsyncStream<Never>.Continuation

    fileprivate init(_ driver: Driver<StreamLinkMachine>) {
      self.driver = driver
      (life, lifetime) = AsyncStream.makeStream()
    }

    /// Ends the link's loop; it should have been left before.
    func finish() { lifetime.finish() }

    /// Takes the events of the link's client until it is over.
    /// - Throws: What broke the client's world, and `CancellationError`.
    fileprivate func live() async throws {
      try await driver.run(
        goodbye: .leave, loop: { [driver] in try await driver.loop(.leave) }, helper: {},
        finish: finish, body: { for await _ in life {} })
    }
  }

  private struct State {
    var runs: [String: Run] = [:]
    var failure: (any Error)?
  }

  private let state = Mutex(State())
  private let configuration: LinkConfiguration
  private let hub: LinkHub
  private let makeClient: (@Sendable (String) throws -> any DataClient)?
  private let queue: AsyncStream<Run>
  private let newRuns: AsyncStream<Run>.Continuation

  init(
    _ configuration: LinkConfiguration, _ hub: LinkHub,
    _ makeClient: (@Sendable (String) throws -> any DataClient)?
  ) {
    self.configuration = configuration
    self.hub = hub
    self.makeClient = makeClient
    (queue, newRuns) = AsyncStream.makeStream()
  }

  /// What broke the world of a stream channel first.
  var failure: (any Error)? { state.withLock { $0.failure } }

  func run(of channel: String) -> Run? { state.withLock { $0.runs[channel] } }

  var runs: [Run] {
    state.withLock { state in state.runs.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Returns the life of a channel's link, which begins now if there is none.
  func makeRun(of channel: String) throws -> Run {
    if let run = run(of: channel) { return run }
    guard let makeClient else {
      throw LinkError(.serviceNotSupported, "no clients for stream channels were given")
    }
    let client = try makeClient(channel)
    let machine = try StreamLinkMachine(channel, configuration.fitting(client))
    let made = Run(Driver(machine, client: client, log: hub.log, tell: hub.take))
    let run = state.withLock { state in
      if let other = state.runs[channel] { return other }
      state.runs[channel] = made
      return made
    }
    if run === made { newRuns.yield(run) }
    return run
  }

  /// Ends the link of a channel that was left.
  func end(_ run: Run) {
    forget(run)
    run.finish()
  }

  /// Forgets a link that is on its way out.
  func forget(_ run: Run) {
    let channel = run.driver.read { $0.channel }
    state.withLock { if $0.runs[channel] === run { $0.runs[channel] = nil } }
  }

  // MARK: With the message service

  /// Does what a change of the message service's state means for stream channels.
  func follow(_ effect: LinkEffect) {
    guard case .changeState(let event) = effect else { return }
    switch event.current {
    case .idle:
      for run in runs { run.driver.submit(.leave) { [self] _ in end(run) } }
    case .failed:
      for run in runs { run.driver.submit(.noteServiceFailure) { _ in } }
    case .connecting, .connected, .disconnected, .suspended: break
    }
  }

  /// Leaves all channels, and waits until their connections are closed.
  func leaveAll() async {
    for run in runs {
      // A run that has left already waits for the same end, or for nothing.
      _ = try? await run.driver.call(.leave)
      end(run)
    }
  }

  // MARK: Life

  /// Lets links live until the queue is finished, or the task is cancelled.
  func live() async {
    await withDiscardingTaskGroup { group in
      for await run in queue {
        group.addTask { [self] in
          do {
            try await run.live()
          } catch is CancellationError {
            // The scope was cancelled too, and says so itself if it matters.
          } catch {
            state.withLock { $0.failure = $0.failure ?? error }
          }
          end(run)
        }
      }
    }
  }

  /// Ends all links; none will begin.
  func finish() {
    newRuns.finish()
    for run in runs { run.finish() }
  }
}

extension LinkConfiguration {
  /// The configuration without what a client can't do.
  func fitting(_ client: any DataClient) -> LinkConfiguration {
    var configuration = self
    configuration.leavesWill = leavesWill && client.capabilities.contains(.will)
    return configuration
  }
}
