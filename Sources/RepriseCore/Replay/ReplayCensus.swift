/// The clients that take part in a session, as far as a replay of one client has to know.
struct ReplayCensus: Sendable {
  /// How many connections are kept for messages.
  private static let limit = 10_000

  private var clients: [(connection: Int, clientID: String?)] = []
  /// The connections of which something is replayed.
  private var kept: Set<Int> = []
  private var last: Int?
  private var isInterleaved = false

  /// Notes whose a connection is.
  mutating func note(_ connection: Int, clientID: String?) {
    if clients.count < Self.limit { clients.append((connection, clientID)) }
  }

  /// Notes that the next event of what is replayed is on a connection.
  @inline(__always)
  mutating func keep(_ connection: Int) {
    guard connection != last else { return }
    last = connection
    if !kept.insert(connection).inserted { isInterleaved = true }
  }

  /// Whether there is nothing to replay.
  var isEmpty: Bool { kept.isEmpty }

  /// Whether there is no client at all.
  var isNobody: Bool { clients.isEmpty }

  /// Whether what would be replayed seems to be of several clients.
  var isAmbiguous: Bool {
    let names = clients.filter { kept.contains($0.connection) }.map(\.clientID)
    let unknown = names.count { $0 == nil }
    if Set(names).count > 2 || (unknown == 0 && Set(names).count > 1) { return true }
    return unknown > 1 || (unknown == 1 && isInterleaved)
  }

  // MARK: Words

  /// Why nobody can say who is to be replayed.
  var ambiguity: DataClientError {
    DataClientError(
      .unreadable,
      "the session has \(clients.count) connections of several clients; choose one by client "
        + "identifier or connection: \(candidates)")
  }

  /// Why there is nothing to replay.
  /// - Parameters:
  ///   - selection: Whose part was asked for.
  ///   - isChosen: Whether the session has the client, at another time.
  /// - Returns: The error.
  func notFound(_ selection: ReplaySelection, isChosen: Bool) -> DataClientError {
    guard !clients.isEmpty else {
      return DataClientError(
        .unreadable, "the session has no MQTT packets, so there is nothing to replay")
    }
    guard !isChosen else {
      return DataClientError(
        .unreadable, "the session has nothing of the client in the time that was asked for")
    }
    var message = "the session has no MQTT packets"
    switch selection {
    case .only: break
    case .connection(let number): message = "the session has no connection \(number) with packets"
    case .client(let name):
      message = "the session has no client \"\(name)\""
      if let near = NearestName.find(name, in: clients.compactMap(\.clientID)) {
        message += "; did you mean \"\(near)\"?"
      }
    }
    return DataClientError(.unreadable, "\(message); it has \(candidates)")
  }

  private var candidates: String {
    let shown = clients.prefix(20).map { client in
      let name = client.clientID.map { "\"\($0)\"" } ?? "no identifier"
      return "connection \(client.connection) (\(name))"
    }
    return shown.joined(separator: ", ") + (clients.count > 20 ? ", …" : "")
  }
}
