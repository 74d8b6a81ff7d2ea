import Capture
import RepriseCore
import TestSupport

extension EventList {
  /// Reads a capture whole.
  static func events(
    of path: String, options: InputOptions = InputOptions()
  ) throws -> (events: [Event], summary: InputSummary) {
    var list = EventList()
    let summary = try SessionInput.read(path, options: options, into: &list)
    return (list.events, summary)
  }
}
