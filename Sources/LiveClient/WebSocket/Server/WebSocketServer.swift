import RepriseCore
public import Wire

/// A server of WebSocket (RFC 6455) on a thread of its own.
///
/// ```swift
/// try await withWebSocketServer { server in
///   print(server.url)
///   await server.serve { connection in
///     for await event in connection.events {
///       if case .text(let text) = event { try await connection.send("You said: \(text)") }
///     }
///   }
/// }
/// ```
///
/// libwebsockets listens, speaks TLS and moves the bytes; handshake, frames and permessage-deflate are
/// those of `Wire`, which knows each rule that a client can break by its name. (The frames of
/// libwebsockets 4.1 take the codes 1012 to 1014 for errors, and its permessage-deflate ends the process.)
///
/// The secrets of TLS go where ``MosquittoClient`` has them go: to the file that `SSLKEYLOGFILE` names, if it does.
public final class WebSocketServer: Sendable {
  /// The port that is listened on.
  public let port: UInt16
  /// Where clients on this machine find the server: `ws://address:port`, or `wss://` with TLS.
  public let url: String
  private let accepted: ThreadMailbox<WebSocketServerConnection>

  fileprivate init(
    _ options: WebSocketServerOptions, port: UInt16,
    _ accepted: ThreadMailbox<WebSocketServerConnection>
  ) {
    self.port = port
    let host = options.address.contains(":") ? "[\(options.address)]" : options.address
    url = "\(options.tls == nil ? "ws" : "wss")://\(host):\(port)"
    self.accepted = accepted
  }

  /// The connections, in the order in which they were opened; each goes to one reader.
  public var connections: Connections { Connections(accepted: accepted) }

  /// The connections of a server.
  public struct Connections: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let accepted: ThreadMailbox<WebSocketServerConnection>

    /// Returns the sequence itself, as it is its own iterator.
    public func makeAsyncIterator() -> Connections { self }

    /// Returns the next connection; nil when the task is cancelled.
    public func next() async -> WebSocketServerConnection? { await accepted.next() }
  }

  /// Does the same with every connection, with all of them at once, until the task is cancelled.
  ///
  /// A connection is closed with 1000 when the closure returns, and with 1011 when it throws: what one
  /// client does ends no other one. When the task is cancelled, they are closed with 1001.
  /// - Parameter handle: What to do with a connection.
  public func serve(
    _ handle: @escaping @Sendable (WebSocketServerConnection) async throws -> Void
  ) async {
    await withDiscardingTaskGroup { group in
      for await connection in connections {
        group.addTask {
          var code: UInt16 = 1000
          do { try await handle(connection) } catch { code = 1011 }
          connection.finish(Task.isCancelled ? 1001 : code)
        }
      }
      group.cancelAll()
    }
  }
}

/// Runs a server for as long as a closure does.
///
/// When the closure returns or throws, connections that are open are closed with 1001 (RFC 6455 section
/// 7.4.1); the call waits for the clients' answers, at most ``WebSocketServerLimits/closeTime`` twice, and
/// for the server's thread.
/// - Parameters:
///   - options: Where to listen, what to agree to, and how much to take.
///   - decide: Says whether a request that keeps to RFC 6455 is accepted, such as by its path, its Origin or
///     its credentials. It is called on the server's thread and must not wait.
///   - body: What to do while there is a server.
/// - Returns: What the closure returns.
/// - Throws: `DataClientError` when nothing can be listened on, and what the closure throws.
public func withWebSocketServer<Result: Sendable>(
  _ options: WebSocketServerOptions = WebSocketServerOptions(),
  deciding decide: @escaping @Sendable (WebSocketRequest) -> WebSocketDecision = { _ in .accept },
  _ body: (WebSocketServer) async throws -> Result
) async throws -> Result {
  try options.check()
  let orders = ServerOrders()
  let accepted = ThreadMailbox<WebSocketServerConnection>(limit: options.limits.connections)
  let start = ServerStart()
  let thread = try WorkerThread {
    let loop = ServerLoop(options, orders: orders, connections: accepted, deciding: decide)
    // The library and the links refer to it without holding it.
    withExtendedLifetime(loop) { loop.run { start.tell($0) } }
    orders.end()
  }
  let outcome: Swift.Result<Result, any Error>
  do {
    let port = try await start.port()
    outcome = .success(try await body(WebSocketServer(options, port: port, accepted)))
  } catch {
    outcome = .failure(error)
  }
  await orders.stop()
  thread.join()
  return try outcome.get()
}
