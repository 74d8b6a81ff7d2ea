import RepriseCore

/// The time that `--from` and `--to` leave.
final class TimeWindow {
  private var filter: SessionFilter?

  /// Reads the options.
  /// - Throws: ``UsageError``.
  init(_ arguments: Arguments) throws(UsageError) {
    do {
      filter = try SessionFilter(
        all: [], from: arguments.value(.from), to: arguments.value(.to), memory: 0)
    } catch { throw UsageError(error.message, arguments.helpHint) }
  }

  /// Tells whether a moment is in it.
  ///
  /// The first one that is asked for is the start; what has no time is in it.
  func contains(_ time: Timestamp?) -> Bool {
    guard let time, filter != nil else { return true }
    let context = EventContext(time: time, frame: 0, connection: 0, sender: .client, wire: .tls)
    return filter?.matches(EventView(context, .gap(Gap(bytes: 0, reason: .leftOut)))) ?? true
  }
}
