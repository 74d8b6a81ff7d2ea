public import RepriseCore
import Synchronization

/// Holds a system of the SDK for as long as an application wants, where no scope of a function can.
///
/// ```swift
/// final class AppModel {
///   let cloud: Owner<Channel>
///
///   init(client: any DataClient, configuration: ChannelConfiguration) {
///     cloud = Owner<Channel>(on: client, configuration: configuration)
///   }
///
///   func enterForeground() async throws -> Channel { try await cloud.start() }
///   func enterBackground() async throws { try await cloud.stop() }
/// }
/// ```
///
/// It runs the same scope that `withChannel`, `withGateway`, `withLink` and `withSession` are, in a task of its own,
/// from ``start()`` to ``stop()``. An owner that is let go ends it as a cancelled scope does: DISCONNECT is sent and not
/// waited for.
public final class Owner<System: Sendable>: Sendable {
  /// Runs a system for as long as a body runs, as `withChannel` and its like do.
  public typealias Scope =
    @Sendable (
      _ body: @escaping @Sendable (System) async throws -> Void
    ) async throws -> Void

  /// One time from a start to a stop.
  private struct Run: Sendable {
    let number: UInt64
    /// The scope.
    let task: Task<Void, any Error>
    /// Gives the system as soon as the scope's body begins.
    let begun: Task<System, any Error>
    /// Ends the scope's body.
    let end: AsyncStream<Never>.Continuation
  }

  private struct State {
    var last: UInt64 = 0
    var run: Run?
    var system: System?
  }

  private let scope: Scope
  private let state = Mutex(State())

  /// Creates an owner of whatever a scope runs; nothing is started.
  /// - Parameter scope: Runs the system; what it does before its body is part of ``start()``.
  public init(_ scope: @escaping Scope) { self.scope = scope }

  deinit { state.withLock(\.run)?.task.cancel() }

  /// The system; nil unless it was started, and after a stop.
  public var system: System? { state.withLock(\.system) }

  /// Starts the system, unless it is started already.
  ///
  /// When the task that waits is cancelled, the start is taken back.
  /// - Returns: The system, which is of use until ``stop()``.
  /// - Throws: What its scope throws before the body begins; then it can be started again.
  public func start() async throws -> System {
    let run = state.withLock { state in
      if let run = state.run { return run }
      state.last += 1
      let run = Self.run(scope, state.last)
      state.run = run
      return run
    }
    return try await withTaskCancellationHandler {
      do {
        let system = try await run.begun.value
        state.withLock { if $0.run?.number == run.number { $0.system = system } }
        return system
      } catch {
        state.withLock { if $0.run?.number == run.number { $0.run = nil } }
        throw error
      }
    } onCancel: {
      run.task.cancel()
    }
  }

  private static func run(_ scope: @escaping Scope, _ number: UInt64) -> Run {
    let (ends, end) = AsyncStream<Never>.makeStream()
    let (systems, begin) = AsyncThrowingStream<System, any Error>.makeStream()
    let task = Task {
      do {
        try await scope { system in
          begin.yield(system)
          for await _ in ends {}
        }
        begin.finish()
      } catch {
        begin.finish(throwing: error)
        throw error
      }
    }
    let begun = Task {
      for try await system in systems { return system }
      throw CancellationError()
    }
    return Run(number: number, task: task, begun: begun, end: end)
  }

  /// Stops the system in good order, and returns when that is done; it can be started again.
  /// - Throws: What broke the client's world while the system ran.
  public func stop() async throws {
    let run = state.withLock { state in
      state.system = nil
      return state.run.take()
    }
    run?.end.finish()
    do {
      try await run?.task.value
    } catch is CancellationError {
      // A start that was taken back.
    }
  }
}

extension Owner where System == Channel {
  /// Creates the owner of a channel, which ``start()`` connects.
  /// - Parameters:
  ///   - client: The world; nobody else may read it.
  ///   - configuration: How the channel behaves, its identity included.
  public convenience init(on client: any DataClient, configuration: ChannelConfiguration) {
    self.init { body in
      try await withChannel(on: client, configuration: configuration) { channel in
        try await channel.start()
        try await body(channel)
      }
    }
  }
}

extension Owner where System == Gateway {
  /// Creates the owner of a gateway, which ``start()`` connects.
  /// - Parameters:
  ///   - client: The world; nobody else may read it.
  ///   - configuration: How the gateway behaves.
  public convenience init(on client: any DataClient, configuration: GatewayConfiguration) {
    self.init { body in
      try await withGateway(on: client, configuration: configuration) { gateway in
        try await gateway.start()
        try await body(gateway)
      }
    }
  }
}

extension Owner where System == Link {
  /// Creates the owner of a link, which is logged in by ``Link/login(token:)`` after ``start()``.
  /// - Parameters:
  ///   - client: The world; nobody else may read it.
  ///   - configuration: How the link behaves.
  ///   - streamClient: Makes the client of a stream channel.
  public convenience init(
    on client: any DataClient, configuration: LinkConfiguration,
    streamClient: (@Sendable (String) throws -> any DataClient)? = nil
  ) {
    self.init { body in
      try await withLink(on: client, configuration: configuration, streamClient: streamClient, body)
    }
  }
}

extension Owner where System == MQTTSession {
  /// Creates the owner of an MQTT session, which ``start()`` connects.
  /// - Parameters:
  ///   - client: The world; nobody else may read it.
  ///   - configuration: How the session behaves.
  public convenience init(
    on client: any DataClient, configuration: MQTTConfiguration = MQTTConfiguration()
  ) {
    self.init { body in
      try await withSession(on: client, configuration: configuration, body)
    }
  }
}
