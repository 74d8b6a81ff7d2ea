import Capture
import RepriseCore

/// What of a session is written.
struct Selection {
  var filter: SessionFilter?
  var client: ClientChoice?
  let connection: Int?
  /// The client that was asked for, or else the connection.
  let subject: SessionSubject?

  init(_ arguments: Arguments) throws(UsageError) {
    // A quarter of what everything may take, for each.
    let memory = try arguments.memory() / 4
    filter = try SessionFilter(typed: arguments, memory: memory)
    client = arguments.value(.client).map { ClientChoice($0, memory: memory) }
    let connection = try arguments.count(.connection)
    self.connection = connection
    subject =
      arguments.value(.client).map { .client($0) } ?? connection.map { .connection($0) }
  }

  /// Whether there may be less than all.
  var isSome: Bool { filter != nil || client != nil || connection != nil }
}
