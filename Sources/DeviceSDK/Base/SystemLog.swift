package import RepriseCore

/// A log as one system writes to it.
package struct SystemLog: Sendable {
  private let log: DeviceLog
  private let system: DeviceLog.System
  private let now: @Sendable () -> Timestamp

  /// Creates a system's log.
  /// - Parameters:
  ///   - log: The application's log.
  ///   - system: The system.
  ///   - client: Whose time entries have that come with none.
  package init(_ log: DeviceLog, _ system: DeviceLog.System, in client: any DataClient) {
    self.log = log
    self.system = system
    now = { client.now }
  }

  private init() {
    log = DeviceLog()
    system = .channel
    now = { Timestamp(nanoseconds: 0) }
  }

  /// A log that goes nowhere.
  package static let none = SystemLog()

  /// Writes an entry if it is wanted.
  func callAsFunction(
    _ level: DeviceLog.Level, _ module: DeviceLog.Module, at time: Timestamp? = nil,
    _ message: @autoclosure () -> String
  ) {
    guard log.takes(level, module) else { return }
    log.write(
      DeviceLog.Entry(
        time: time ?? now(), system: system, level: level, module: module, message: message()))
  }

  /// Writes what a machine has made.
  func callAsFunction(_ entry: DeviceLog.Entry) { log.write(entry) }
}
