package import RepriseCore

/// How a session is replayed at the other end of its connections.
package struct ReplaySettings: Sendable {
  /// How packets are compared, and the file that they are of.
  package var options: ReplayOptions
  /// How many times as fast as recorded; nil does not wait.
  package var speed: Double?
  /// How much later than recorded something of the other end may come.
  package var patience: Duration

  /// Creates settings.
  package init(options: ReplayOptions, speed: Double?, patience: Duration) {
    (self.options, self.speed, self.patience) = (options, speed, patience)
  }
}
