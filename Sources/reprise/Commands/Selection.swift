import Capture
import RepriseCore

/// What of a session is written.
struct Selection {
  var filter: SessionFilter?
  var client: ClientChoice?
  let connection: Int?

  init(_ arguments: Arguments) throws(UsageError) {
    // A quarter of what everything may take, for each.
    let memory = (try arguments.size(.memory) ?? InputOptions.defaultMemory) / 4
    filter = try SessionFilter(typed: arguments, memory: memory)
    client = arguments.value(.client).map { ClientChoice($0, memory: memory) }
    connection = try arguments.count(.connection)
  }

  /// Whether there may be less than all.
  var isSome: Bool { filter != nil || client != nil || connection != nil }
}
