/// The application's way to a sub-device, such as Bluetooth.
///
/// The gateway asks ``isReady`` and `info` on its own task: they must return soon.
public protocol SubdeviceConnection: Sendable {
  /// Whether the sub-device can be asked; otherwise the gateway opens the connection first.
  var isReady: Bool { get }

  /// Opens the connection; must end when the task is cancelled.
  /// - Throws: Why it does not open; calls that need the sub-device fail with code 4301.
  func open() async throws

  /// Closes the connection; must end when the task is cancelled.
  /// - Throws: Why it does not close, which is only logged.
  func close() async throws

  /// What the sub-device says of itself; asked each time that its signature is needed.
  /// - Returns: What it says.
  /// - Throws: Why it says nothing; calls that need the sub-device fail with code 4301.
  func info() throws -> SubdeviceInfo
}

/// Names a connection from its set-up to its end, as a machine knows of no objects.
package struct ConnectionID: Sendable, Hashable {
  /// The number.
  package let rawValue: UInt64

  /// Creates an identifier.
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}
