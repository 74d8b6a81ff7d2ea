public import RepriseCore

/// What lives in a client's world, and has an application that waits in the time of that world.
///
/// An application that sleeps by a clock of its own would wait for real hours where a recording's hours pass at once,
/// and would do things at other moments than the recording has.
///
/// ```swift
/// var moment = change.time
/// while true {
///   moment = moment.advanced(by: .seconds(900))
///   try await gateway.sleep(until: moment)
///   try await line.post(properties: ["Temperature": 20.5])
/// }
/// ```
///
/// Count from the time of something that came, such as ``LineChange/time``, where a replay is to do the same: until the
/// application waits, the world goes on to what comes next, so that ``now`` may differ from run to run.
public protocol WorldTime: Sendable {
  /// The time in the client's world.
  var now: Timestamp { get }

  /// Waits until a moment of the client's world; not at all when it has come already.
  /// - Parameter moment: The moment.
  /// - Throws: `CancellationError`, also at the end of the system's scope; and `DataClientError` when the world is
  ///   broken, or ends before the moment.
  func sleep(until moment: Timestamp) async throws
}

extension WorldTime {
  /// Waits in the time of the client's world.
  ///
  /// What is to happen at regular times is better told by ``sleep(until:)``: the time that work takes between two
  /// calls of this one is added to the interval.
  /// - Parameter duration: How long.
  /// - Throws: `CancellationError`, also at the end of the system's scope; and `DataClientError` when the world is
  ///   broken, or ends before.
  public func sleep(for duration: Duration) async throws {
    try await sleep(until: now.advanced(by: duration))
  }
}

extension Channel: WorldTime {
  /// Waits until a moment of the client's world.
  public func sleep(until moment: Timestamp) async throws { try await driver.sleep(until: moment) }
}

extension Gateway: WorldTime {
  /// Waits until a moment of the client's world.
  public func sleep(until moment: Timestamp) async throws { try await driver.sleep(until: moment) }
}

extension Link: WorldTime {
  /// The time in the client's world, to compare with the times of events.
  public var now: Timestamp { driver.heard }

  /// Waits until a moment of the client's world.
  public func sleep(until moment: Timestamp) async throws { try await driver.sleep(until: moment) }
}

extension MQTTSession: WorldTime {
  /// Waits until a moment of the client's world.
  public func sleep(until moment: Timestamp) async throws { try await driver.sleep(until: moment) }
}

extension RequestConnection: WorldTime {
  /// The time in the client's world.
  public var now: Timestamp { driver.heard }

  /// Waits until a moment of the client's world.
  public func sleep(until moment: Timestamp) async throws { try await driver.sleep(until: moment) }
}
