import CloudSimulator
import LiveClient
import RepriseCore
import Synchronization
import Wire

/// Shows what happens on the connections of a server, in lines that are numbered together.
final class ServerLines: Sendable {
  private let server: String
  private let lines: EventLines
  private let envelope: RequestEnvelope
  private let console: Console
  private let last = Mutex<(line: Int, connection: Int)>((0, 0))

  /// Creates lines of nothing yet.
  /// - Parameters:
  ///   - server: Where the server is.
  ///   - lines: What shows them.
  ///   - envelope: What the parts of a request are called.
  ///   - console: How to tell the user of messages that are no requests.
  init(
    server: String, _ lines: EventLines, _ envelope: RequestEnvelope, _ console: Console
  ) {
    self.server = server
    self.lines = lines
    self.envelope = envelope
    self.console = console
  }

  /// Tells the user that a text gets no answer, if it gets none.
  func note(_ text: String, on connection: Int) {
    guard let misfit = RequestServerMachine.misfit(of: text, in: envelope) else { return }
    let isModel = envelope == RequestEnvelope()
    noteUnanswered(
      misfit, on: connection, isModel ? "; a script's envelope tells keys of the client's own" : "")
  }

  /// Tells the user that a message gets no answer, and what would be one that does.
  func noteUnanswered(_ misfit: String, on connection: Int, _ hint: String = "") {
    console.note(
      server,
      "a message on connection \(connection) is not answered: \(misfit); a request is a text "
        + "\(envelope.sample)\(hint)")
  }

  /// Shows that a connection was opened.
  /// - Returns: The number of the connection, from 1.
  /// - Throws: ``OutputError``.
  func open(_ connection: WebSocketServerConnection, at time: Timestamp) throws -> Int {
    let number = last.withLock { last in
      last.connection += 1
      return last.connection
    }
    let opening = ConnectionOpening(
      client: connection.clientAddress, server: server, isFromStart: true, firstFrame: 1,
      firstTime: time, hasPings: false)
    try show(.opened(opening), by: .client, on: number, at: time)
    try show(.handshake(.request(connection.request)), by: .client, on: number, at: time)
    try show(.handshake(.response(connection.response)), by: .server, on: number, at: time)
    return number
  }

  /// Shows a message, or a Close frame.
  /// - Throws: ``OutputError``.
  func show(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], by sender: Peer, on connection: Int,
    at time: Timestamp
  ) throws {
    // A client's frames are masked (RFC 6455 section 5.1); how, nobody is shown.
    let frame = WebSocketFrame(opcode, payload, maskingKey: sender == .client ? 0 : nil)
    try show(.webSocket(frame), by: sender, on: connection, at: time)
  }

  /// Shows how a connection ended.
  /// - Throws: ``OutputError``.
  func close(_ closure: WebSocketClosure, on connection: Int, at time: Timestamp) throws {
    func show(_ code: UInt16?, _ reason: String, by sender: Peer) throws {
      let bytes = code.map { [UInt8($0 >> 8), UInt8($0 & 0xff)] + Array(reason.utf8) } ?? []
      try self.show(.close, bytes, by: sender, on: connection, at: time)
    }
    var (how, sender) = (ConnectionClosing.How.fin, Peer.server)
    switch closure {
    case .byClient(let code, let reason):
      try show(code, reason, by: .client)
      // It is answered with its own code (RFC 6455 section 5.5.1).
      try show(code, "", by: .server)
      sender = .client
    case .byServer(let code, let reason):
      try show(code, reason, by: .server)
      try show(code, "", by: .client)
    case .failed(let code, let message): try show(code, message, by: .server)
    case .dropped: break
    case .lost: (how, sender) = (.reset, .client)
    }
    let closing = ConnectionClosing(how: how, firstFrame: 1, firstTime: time)
    try self.show(.closed(closing), by: sender, on: connection, at: time)
  }

  private func show(
    _ body: Event.Body, by sender: Peer, on connection: Int, at time: Timestamp
  ) throws {
    // Written under the lock, so that lines stand in the order of their numbers.
    try last.withLock { last in
      last.line += 1
      let context = EventContext(
        time: time, frame: last.line, connection: connection, sender: sender, wire: .webSocket)
      try lines.take(Event(context, body))
    }
  }
}

/// The server's side of a connection, all of which is shown.
final class ServedConnection: DataClient {
  /// The number of the connection, from 1.
  let number: Int
  private let connection: WebSocketServerConnection
  private let client: ServerSideClient
  private let lines: ServerLines

  /// Takes over a connection, and shows that it was opened.
  /// - Throws: ``OutputError``.
  init(_ connection: WebSocketServerConnection, shownBy lines: ServerLines) throws {
    self.connection = connection
    self.lines = lines
    client = ServerSideClient(connection)
    number = try lines.open(connection, at: client.now)
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws {
    try await client.perform(action)
    switch action.kind {
    case .sendText(let text): try show(.text, Array(text.utf8), by: .server)
    case .sendBinary(let bytes): try show(.binary, bytes, by: .server)
    // It is shown when the client has answered.
    case .disconnect, .connect, .subscribe, .unsubscribe, .publish, .send: break
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = try await client.next(before: deadline)
    switch event {
    case .text(let text):
      try show(.text, Array(text.utf8), by: .client)
      lines.note(text, on: number)
    case .binary(let bytes):
      try show(.binary, bytes, by: .client)
      lines.noteUnanswered("it is binary", on: number)
    case .closed:
      if let closure = client.closure { try lines.close(closure, on: number, at: client.now) }
    case .connected, .subscribed, .unsubscribed, .published, .message, .response, .failed,
      .deadline, .woken, .ended:
      break
    }
    return event
  }

  func wake() { client.wake() }

  /// Lets the connection break without a Close frame.
  /// - Throws: `DataClientError` when it is closed.
  func drop() throws { try connection.drop() }

  private func show(_ opcode: WebSocketOpcode, _ payload: [UInt8], by sender: Peer) throws {
    try lines.show(opcode, payload, by: sender, on: number, at: client.now)
  }
}

extension RequestEnvelope {
  /// A request as an example, for users.
  fileprivate var sample: String {
    let content: JSONValue = writesContentAsText ? "{}" : [:]
    let members: [(String, JSONValue)] = [
      (id, 1), (service, "nlu/analyze"), (method, "POST"), (product, "P"), (self.content, content),
    ]
    return "{" + members.map { "\(JSONValue.string($0)): \($1)" }.joined(separator: ", ") + "}"
  }
}
