import Wire

/// Chooses the connections of a client, as a whole.
///
/// A client is known by its CONNECT, or by the name that the server gave it in CONNACK. What its connection has before
/// that (its opening, the handshake of WebSocket) is held back until then, as copies.
package struct ClientChoice: Sendable {
  /// The most events that a connection has before its client is known, and the most bytes that all of them take.
  private static let maximumEvents = 64
  private static let maximumBytes = 1 << 20

  private var names: SessionFilter
  /// The connections that were chosen, and those that were not, until they are over.
  private var chosen: [Int: Bool] = [:]
  private var held: [Int: [(event: Event, isSelected: Bool)]] = [:]
  private var heldBytes = 0

  /// Creates a choice.
  /// - Parameters:
  ///   - client: The client's identifier.
  ///   - memory: The most bytes that the clients of open connections take.
  package init(_ client: String, memory: Int = 64 << 20) {
    names = SessionFilter(client: client, memory: memory)
  }

  /// Takes the next event of the session.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is wanted if its connection is.
  ///   - take: Gets the events of connections that were chosen: this one, and those that were held back for it.
  /// - Throws: What `take` throws.
  package mutating func consume(
    _ event: borrowing EventView, isSelected: Bool,
    _ take: (borrowing EventView, Bool) throws -> Void
  ) throws {
    let number = event.context.connection
    let isNamed = names.matches(event)
    defer { if event.isEnd { forget(number) } }
    if isNamed, chosen[number] != true {
      chosen[number] = true
      for (event, isSelected) in release(number) {
        try event.withView { view throws in try take(view, isSelected) }
      }
    }
    switch chosen[number] {
    case true?: try take(event, isSelected)
    case false?: break
    case nil: hold(event, isSelected)
    }
  }

  /// Holds an event back, unless nothing that names the client can come any more.
  private mutating func hold(_ event: borrowing EventView, _ isSelected: Bool) {
    let number = event.context.connection
    let size = event.heldSize
    let isFull =
      held[number, default: []].count >= Self.maximumEvents
      || heldBytes > Self.maximumBytes - size
    guard !isFull, event.mayPrecedeName else {
      _ = release(number)
      chosen[number] = false
      return
    }
    heldBytes += size
    held[number, default: []].append((Event(copying: event), isSelected))
  }

  private mutating func release(_ number: Int) -> [(event: Event, isSelected: Bool)] {
    let events = held.removeValue(forKey: number) ?? []
    for (event, _) in events { heldBytes -= event.withView { $0.heldSize } }
    return events
  }

  private mutating func forget(_ number: Int) {
    _ = release(number)
    chosen[number] = nil
  }
}

extension EventView {
  fileprivate var isEnd: Bool {
    switch body {
    case .closed, .attempted: true
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: false
    }
  }

  /// Whether a CONNECT, or a CONNACK with a name, may come behind it.
  fileprivate var mayPrecedeName: Bool {
    guard case .mqtt(let packet) = body else { return true }
    return packet.type == .connect
  }

  /// About what a copy of it takes, in bytes.
  fileprivate var heldSize: Int {
    switch body {
    case .mqtt(let packet): 256 + packet.bytes.byteCount
    case .webSocket(let frame): 256 + frame.payload.byteCount + frame.data.byteCount
    case .handshake: 4_096
    case .http(let part): part.size
    case .opened, .closed, .attempted, .gap, .malformed, .tls: 256
    }
  }
}
