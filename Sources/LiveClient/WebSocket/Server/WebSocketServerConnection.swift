public import RepriseCore
public import Wire

/// A connection of a ``WebSocketServer``, open until ``WebSocketServerEvent/closed(_:)``.
///
/// PING is answered, fragments are joined and permessage-deflate is undone before an event is told. When
/// the last reference to a connection goes, it is closed with 1001.
///
/// ## Back-pressure
///
/// While ``WebSocketServerLimits/received`` bytes wait in ``events``, the socket is not read, and TCP stops
/// the client; what one read brought may go beyond. ``send(_:)-(String)`` waits while
/// ``WebSocketServerLimits/unsent`` bytes are not written.
public final class WebSocketServerConnection: Sendable {
  /// The client's opening request (RFC 6455 section 4.1), with its target and header lines.
  public let request: WebSocketRequest
  /// The subprotocol that is spoken; nil for none.
  public let subprotocol: String?
  /// The address of the client, without a port.
  public let clientAddress: String
  /// The server's answer to it, the status 101 (section 4.2.2).
  public let response: WebSocketResponse
  let clock: LiveClock
  let inbox: ThreadMailbox<WebSocketServerEvent.Told>
  private let outbox: ServerOutbox

  init(
    _ agreement: WebSocketAgreement, from clientAddress: String, clock: LiveClock,
    inbox: ThreadMailbox<WebSocketServerEvent.Told>, outbox: ServerOutbox
  ) {
    request = agreement.request
    response = agreement.response
    subprotocol = agreement.subprotocol
    self.clientAddress = clientAddress
    self.clock = clock
    self.inbox = inbox
    self.outbox = outbox
  }

  deinit { outbox.close(code: 1001, reason: "") }

  /// What the client does, to the end of the connection; each event goes to one reader.
  public var events: Events { Events(inbox: inbox) }

  /// What a client does.
  public struct Events: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let inbox: ThreadMailbox<WebSocketServerEvent.Told>

    /// Returns the sequence itself, as it is its own iterator.
    public func makeAsyncIterator() -> Events { self }

    /// Returns the next event; nil behind the last one, or when the task is cancelled.
    public func next() async -> WebSocketServerEvent? { await inbox.next()?.event }
  }

  // MARK: - Sending

  /// Sends a message of text, as soon as there is room.
  /// - Parameter text: The message.
  /// - Throws: `DataClientError` when the connection is closed, or `CancellationError`.
  public func send(_ text: String) async throws { try await outbox.add(.text(text)) }

  /// Sends a message of bytes, as soon as there is room.
  /// - Parameter bytes: The message.
  /// - Throws: `DataClientError` when the connection is closed, or `CancellationError`.
  public func send(_ bytes: [UInt8]) async throws { try await outbox.add(.binary(bytes)) }

  /// Sends a PING; what answers it is ``WebSocketServerEvent/pong(_:)`` (RFC 6455 section 5.5.2).
  /// - Parameter bytes: What the PONG is to carry (at most 125 bytes).
  /// - Throws: `DataClientError` when the connection is closed or there are too many bytes, or
  ///   `CancellationError`.
  public func ping(_ bytes: [UInt8] = []) async throws {
    guard bytes.count <= 125 else {
      throw DataClientError(.invalidAction, "a PING carries 125 bytes at most")
    }
    try await outbox.add(.ping(bytes))
  }

  /// Sends a frame as it is, be it as wrong as a test of a client wants it.
  ///
  /// The server does not look at it: fragments of a message, reserved bits or a mask are the caller's.
  /// Behind a Close frame sent so, ``close(code:reason:)`` still sends its own.
  /// - Parameter frame: The frame.
  /// - Throws: `DataClientError` when the connection is closed, or `CancellationError`.
  public func send(frame: WebSocketFrame) async throws { try await outbox.add(.frame(frame)) }

  // MARK: - Closing

  /// Closes the connection behind what was sent (RFC 6455 section 7.1.2).
  ///
  /// It does not wait: the end comes as an event, when the client has answered, or has not in
  /// ``WebSocketServerLimits/closeTime``, or has read nothing of what was sent before for
  /// ``WebSocketServerLimits/pongTime``. A
  /// connection that is closed already stays as it is, and so does one that is closed again.
  /// - Parameters:
  ///   - code: Why, as one of the codes that may be sent (section 7.4); nil says nothing.
  ///   - reason: Why, in words of at most 123 bytes in UTF-8; none without a code.
  /// - Throws: `DataClientError` when code or reason can't be sent.
  public func close(code: UInt16? = 1000, reason: String = "") throws(DataClientError) {
    if let code, !WebSocketCloseCode.mayBeSent(code) {
      throw DataClientError(.invalidAction, "the code \(code) may not stand in a Close frame")
    }
    guard reason.utf8.count <= 123, code != nil || reason.isEmpty else {
      throw DataClientError(
        .invalidAction, "a reason has 123 bytes at most, and stands behind a code")
    }
    outbox.close(code: code, reason: reason)
  }

  /// Ends the connection behind what was sent, and without a Close frame, as if it broke.
  ///
  /// The client sees the end of the stream, which is the code 1006 to it (RFC 6455 section 7.1.5).
  /// - Throws: `DataClientError` when the connection is closed.
  public func drop() throws(DataClientError) {
    guard outbox.drop() else { throw ServerOutbox.closed }
  }

  /// Closes the connection with a code that may be sent.
  /// - Returns: Whether it was not closed already.
  @discardableResult
  func finish(_ code: UInt16) -> Bool { outbox.close(code: code, reason: "") }
}
