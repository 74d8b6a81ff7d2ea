import RepriseCore
import Wire

/// Of whom a command is asked to tell.
enum SessionSubject {
  case client(String)
  case connection(Int)

  /// What it is called.
  var title: String {
    switch self {
    case .client(let name): "client \"\(name)\""
    case .connection(let number): "connection \(number)"
    }
  }
}

/// The clients and connections of a session, for a user who asks for one that is not in it.
struct SessionPeople {
  private static let mostNames = 10_000
  private static let longestName = 256

  /// The clients, up to a number.
  private var names: Set<String> = []
  /// The greatest number of a connection.
  private var connections = 0

  /// Takes note of whom an event shows.
  mutating func note(_ event: borrowing EventView) {
    connections = max(connections, event.context.connection)
    guard names.count < Self.mostNames, case .mqtt(let packet) = event.body,
      packet.type == .connect, let connect = packet.connect,
      connect.clientID.byteCount <= Self.longestName
    else { return }
    names.insert(String(copying: connect.clientID))
  }

  /// Says that somebody is not there, and who is instead.
  /// - Parameter subject: The client or connection that was asked for.
  /// - Returns: A line.
  func absence(of subject: SessionSubject) -> String {
    switch subject {
    case .connection(let number):
      return
        "there is no connection \(number): \(connections == 0 ? "it has none" : "the last is \(connections)"); "
        + "reprise inspect shows them all"
    case .client(let name):
      let known = names.subtracting([""]).sorted()
      guard !known.isEmpty else {
        return "there is no client \"\(name)\", and no CONNECT that names another one; "
          + "--connection N chooses a connection"
      }
      if let nearest = NearestName.find(name, in: known) {
        return "there is no client \"\(name)\"; did you mean \"\(nearest)\"?"
      }
      let more = known.count > 5 ? " and \(known.count - 5) more" : ""
      return "there is no client \"\(name)\"; there are "
        + known.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ") + more
    }
  }
}
