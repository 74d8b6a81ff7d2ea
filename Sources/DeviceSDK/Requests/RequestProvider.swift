public import RepriseCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes requests of one kind of target.
///
/// ```swift
/// let provider = RequestProvider<MyAPI>(client: client, plugins: [logger, BusinessErrors()])
/// let answer: Analysis = try await provider.request(.analyze(question: "Are you OK?"))
/// ```
///
/// A provider that was made with a client owns its connection: it is opened by the first request, and
/// closed by ``close()`` or when the provider is let go. A provider that was made with a
/// ``RequestConnection`` shares it with others.
public final class RequestProvider<Target: RequestTarget>: Sendable {
  private enum Source: Sendable {
    case shared(RequestConnection)
    case own(OwnConnection)
    case samples(any RequestFormat)
    case broken(RequestError)
  }

  private let source: Source
  private let plugins: [any RequestPlugin]

  /// Creates a provider with a connection of its own.
  /// - Parameters:
  ///   - client: The world: a WebSocket, a server of HTTP, a folder of files, a recording. Its events
  ///     are read by the provider alone.
  ///   - configuration: How requests are sent; when it is wrong, every request says so.
  ///   - plugins: The plugins that see every stage of every request, in this order.
  ///   - login: Returns the request that logs in, when the server wants that first.
  public init(
    client: any DataClient, configuration: RequestConfiguration = RequestConfiguration(),
    plugins: [any RequestPlugin] = [],
    login: (@Sendable () async throws -> any RequestTarget)? = nil
  ) {
    do throws(RequestError) {
      source = .own(
        OwnConnection(try RequestConnection(client, configuration, plugins, login)))
    } catch {
      source = .broken(error)
    }
    self.plugins = plugins
  }

  /// Creates a provider on a connection that others may share.
  /// - Parameters:
  ///   - connection: The connection.
  ///   - plugins: The plugins that see every stage of every request, in this order.
  public init(_ connection: RequestConnection, plugins: [any RequestPlugin] = []) {
    source = .shared(connection)
    self.plugins = plugins
  }

  /// Creates a provider whose answers are the sample data of its targets; nothing is sent.
  /// - Parameters:
  ///   - plugins: The plugins that see every stage of every request, in this order.
  ///   - format: How the samples are read, as answers over HTTP are: that of the application's configuration.
  public init(
    answeringFromSamples plugins: [any RequestPlugin],
    format: any RequestFormat = JSONRequestFormat()
  ) {
    source = .samples(format)
    self.plugins = plugins
  }

  deinit {
    if case .own(let connection) = source { connection.cancel() }
  }

  /// The connection; nil when answers are samples, or the configuration is wrong.
  public var connection: RequestConnection? {
    switch source {
    case .shared(let connection): connection
    case .own(let own): own.connection
    case .samples, .broken: nil
    }
  }

  /// Closes the connection, if it is the provider's own; requests fail from then on.
  /// - Throws: `DataClientError` when the client's world is broken.
  public func close() async throws {
    if case .own(let connection) = source { try await connection.close() }
  }

  // MARK: Awaiting

  /// Makes a request and decodes its answer.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again when its connection is lost; nil takes the target's count,
  ///     or the configuration's.
  /// - Returns: The answer's content.
  /// - Throws: ``RequestError``, of kind `invalidResponse` when the content is of another type; and
  ///   `DataClientError` when the client's world is broken.
  public func request<Answer: Decodable & Sendable>(
    _ target: Target, timeout: Duration? = nil, resendCount: Int? = nil
  ) async throws -> Answer {
    try await answer(to: target, timeout: timeout, resendCount: resendCount).decoded()
  }

  /// Makes a request, and makes of its answer what a closure says.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again when its connection is lost; nil takes the target's count,
  ///     or the configuration's.
  ///   - decode: Makes something of the answer.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, ``RequestError``, and `DataClientError` when the client's world is broken.
  public func answer<Answer>(
    to target: Target, timeout: Duration? = nil, resendCount: Int? = nil,
    decode: (RequestAnswer) throws -> Answer
  ) async throws -> Answer {
    try decode(try await answer(to: target, timeout: timeout, resendCount: resendCount))
  }

  /// Makes a request and returns its answer as it is.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again when its connection is lost; nil takes the target's count,
  ///     or the configuration's.
  /// - Returns: The answer.
  /// - Throws: ``RequestError``, and `DataClientError` when the client's world is broken.
  public func answer(
    to target: Target, timeout: Duration? = nil, resendCount: Int? = nil
  ) async throws -> RequestAnswer {
    try await plugins.follow(target) { try await send(target, timeout, resendCount) }
  }

  private func send(
    _ target: Target, _ timeout: Duration?, _ resendCount: Int?
  ) async throws -> RequestAnswer {
    switch source {
    case .shared(let connection):
      try await connection.answer(to: target, timeout: timeout, resendCount: resendCount)
    case .own(let own):
      try await own.opened().answer(to: target, timeout: timeout, resendCount: resendCount)
    case .samples(let format): try Self.sample(of: target, format).get()
    case .broken(let error): throw error
    }
  }

  // MARK: Completing

  /// Makes a request whose result goes to a closure, just once.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again when its connection is lost; nil takes the target's count,
  ///     or the configuration's.
  ///   - completion: Takes the result.
  /// - Returns: What takes the request back.
  @discardableResult
  public func request(
    _ target: Target, timeout: Duration? = nil, resendCount: Int? = nil,
    completion: @escaping @Sendable (Result<RequestAnswer, RequestError>) -> Void
  ) -> RequestToken {
    for plugin in plugins { plugin.willSend(target) }
    let plugins = plugins
    let complete: @Sendable (Result<RequestAnswer, RequestError>) -> Void = { result in
      let final = plugins.process(result, of: target)
      completion(final)
      for plugin in plugins { plugin.didReceive(final, of: target) }
    }
    let connection: RequestConnection
    do throws(RequestError) {
      switch source {
      case .shared(let shared): connection = shared
      case .own(let own): connection = try own.opened()
      case .samples(let format):
        complete(Self.sample(of: target, format))
        return RequestToken()
      case .broken(let error): throw error
      }
    } catch {
      complete(.failure(error))
      return RequestToken()
    }
    let ticket = connection.hub.makeTicket()
    let request = connection.outgoing(target, timeout, resendCount, ticket: ticket)
    connection.driver.submit(.request(request)) { complete(Self.result($0)) }
    return RequestToken(ticket: ticket, connection: connection)
  }

  private static func result(
    _ value: Result<RequestStateMachine.Value, any Error>
  ) -> Result<RequestAnswer, RequestError> {
    do {
      return .success(try RequestConnection.answer(in: try value.get()))
    } catch let error as RequestError {
      return .failure(error)
    } catch is CancellationError {
      // No task waits here that could be cancelled: it is the end of the scope, or of the provider.
      return .failure(RequestConnection.isOver)
    } catch {
      return .failure(RequestError(.serverConnection, "\(error)"))
    }
  }

  private static func sample(
    of target: Target, _ format: any RequestFormat
  ) -> Result<RequestAnswer, RequestError> {
    guard let data = target.sampleData else {
      return .failure(RequestError(.client, "\(target.service) has no sample data"))
    }
    return format.read(ResponseMessage(body: data), of: target.service)
      .flatMap { target.parser.applied(to: $0) }
  }
}

/// Takes a request back.
public struct RequestToken: Sendable {
  private let ticket: UInt64
  /// Nil when nothing was sent.
  private let connection: RequestConnection?

  init(ticket: UInt64 = 0, connection: RequestConnection? = nil) {
    self.ticket = ticket
    self.connection = connection
  }

  /// The number that the request went out with on its connection; nil before that, when it is completed, and over HTTP.
  public var id: Int? { connection?.driver.read { $0.number(ofTicket: ticket) } }

  /// Completes the request as cancelled, unless it is completed already; a second time does nothing.
  public func cancel() { connection?.driver.submit(.takeBack(ticket: ticket)) { _ in } }
}

extension RequestAnswer {
  /// The content as a type.
  /// - Returns: The value.
  /// - Throws: ``RequestError`` of kind `invalidResponse` when the content is of another type.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self)
    throws(RequestError) -> Value
  {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(content.utf8))
    } catch {
      let reason = (error as? DecodingError)?.shown ?? "\(error)"
      throw RequestError(
        .invalidResponse, "the answer of \(service) is no \(Value.self): \(reason)")
    }
  }
}
