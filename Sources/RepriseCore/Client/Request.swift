import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What to ask for, and what comes back; it knows neither the host nor how it gets there.
///
/// The same request goes through any ``DataClient`` that has ``Capabilities/requests``: a live one, or
/// a folder of files. An answer that says itself that it is a failure is told as one where it is decoded:
/// by what ``decode(_:)``, or `init(from:)` of the ``Response``, throws.
public protocol Request<Response>: Sendable {
  /// What the answer is decoded to.
  associatedtype Response: Sendable

  /// Where the resource is, relative to the client's base.
  var path: String { get }
  /// What to do with the resource.
  var method: RequestMethod { get }
  /// The parameters, by name: values of JSON, nested ones included. In a URL, what is no text stands as JSON.
  var parameters: [String: JSONValue] { get }
  /// Makes the response of an answer's body; of JSON if the ``Response`` is `Decodable` and nothing else is said.
  /// - Parameter body: The body, in whatever format the server answers.
  /// - Returns: The response.
  /// - Throws: What is wrong with it.
  func decode(_ body: [UInt8]) throws -> Response
}

extension Request {
  /// GET, unless a request says otherwise.
  public var method: RequestMethod { .get }
  /// None, unless a request says otherwise.
  public var parameters: [String: JSONValue] { [:] }
}

extension Request where Response: Decodable {
  /// Decodes JSON.
  public func decode(_ body: [UInt8]) throws -> Response {
    try JSONDecoder().decode(Response.self, from: Data(body))
  }
}

/// The methods of requests, by their names in HTTP (RFC 9110 section 9).
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
  /// Ask for the resource.
  case get = "GET"
  /// Have the resource process the parameters.
  case post = "POST"
  /// Put the parameters in the resource's place.
  case put = "PUT"
  /// Change a part of the resource.
  case patch = "PATCH"
  /// Remove the resource.
  case delete = "DELETE"
  /// Ask for the resource's header only.
  case head = "HEAD"
  /// Ask what can be done with the resource.
  case options = "OPTIONS"
  /// Have the request sent back.
  case trace = "TRACE"
  /// Open a tunnel.
  case connect = "CONNECT"
}

/// How many requests were sent and awaited; each has an identifier of its own, so that what comes too late for
/// one is not taken for the answer to the next.
private let awaitedRequests = Atomic<UInt32>(0)

extension DataClient {
  /// Sends a request and waits for its answer.
  ///
  /// An answer that comes later than that is read by whoever reads next, and is none of theirs.
  ///
  /// It is the one reader of the client while it runs: other events that come meanwhile are gone. An
  /// application that also wants those performs the action itself and reads in one place.
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - timeout: How long to wait for the answer, in the client's time.
  /// - Returns: The decoded answer.
  /// - Throws: ``DataClientError`` (``DataClientError/Code/timedOut``,
  ///   ``DataClientError/Code/rejected`` with the status, ``DataClientError/Code/undecodable`` with the
  ///   place in the answer, and what ``perform(_:)`` throws), and `CancellationError`.
  public func send<R: Request>(
    _ request: R, timeout: Duration = .seconds(10)
  ) async throws -> R.Response {
    let count = awaitedRequests.wrappingAdd(1, ordering: .relaxed).oldValue
    let id = ClientAction.ID.awaited(count)
    let deadline = now.advanced(by: timeout)
    let message = RequestMessage(
      path: request.path, method: request.method.rawValue, parameters: request.parameters)
    try await perform(ClientAction(id, .send(message)))
    while true {
      switch try await next(before: deadline) {
      case .response(id, let response): return try response.decoded(for: request)
      case .failed(id, let failure): throw failure.error(for: request)
      case .deadline:
        throw DataClientError(
          .timedOut, "\(request.path) was not answered within \(timeout); try again or wait longer")
      case .closed(let reason):
        throw DataClientError(
          .transport, "\(request.path) was not answered: \(reason)")
      case .ended:
        throw DataClientError(.noAnswer, "this world ends without an answer to \(request.path)")
      case .connected, .subscribed, .unsubscribed, .published, .message, .text, .binary, .response,
        .failed,
        .woken:
        continue
      }
    }
  }
}

extension DataClient {
  /// Sends a request, and gives what came of it to a closure; see ``send(_:timeout:)``.
  ///
  /// ```swift
  /// client.send(WeatherRequest(city: "Hangzhou")) { @MainActor result in show(result) }
  /// ```
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - timeout: How long to wait for the answer, in the client's time.
  ///   - completion: Takes the response or the error, once; on the main actor if it says so.
  /// - Returns: What takes the request back: then the error is a `CancellationError`.
  @discardableResult
  public func send<R: Request>(
    _ request: R, timeout: Duration = .seconds(10),
    completion: @escaping @Sendable (Result<R.Response, any Error>) async -> Void
  ) -> Task<Void, Never> {
    Task {
      let result: Result<R.Response, any Error>
      do { result = .success(try await send(request, timeout: timeout)) } catch {
        result = .failure(error)
      }
      await completion(result)
    }
  }
}

extension ActionFailure {
  /// The failure as an error of a request.
  fileprivate func error(for request: some Request) -> DataClientError {
    let code: DataClientError.Code =
      switch self {
      case .refused: .rejected
      case .unanswered(.timedOut, _): .timedOut
      case .unanswered: .transport
      }
    return DataClientError(code, "\(request.path) was not answered: \(self)")
  }
}

extension ResponseMessage {
  /// Decodes the body as the type that a request asks for.
  fileprivate func decoded<R: Request>(for request: R) throws(DataClientError) -> R.Response {
    guard (200..<300).contains(status) else {
      throw DataClientError(.rejected, "\(request.path) was answered by status \(status)")
    }
    do {
      return try request.decode(body)
    } catch let error as DecodingError {
      throw DataClientError(
        .undecodable, "the answer to \(request.path) is no \(R.Response.self): \(error.shown)")
    } catch {
      throw DataClientError(
        .undecodable, "the answer to \(request.path) is no \(R.Response.self): \(error)")
    }
  }
}

extension DecodingError {
  /// What is wrong, and at which place of the JSON.
  package var shown: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      "\(context.debugDescription) at \(Self.path(context.codingPath))"
    case .keyNotFound(let key, let context):
      "the key \"\(key.stringValue)\" is missing at \(Self.path(context.codingPath))"
    @unknown default: "\(self)"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce("$") { path, key in
      key.intValue.map { "\(path)[\($0)]" } ?? "\(path).\(key.stringValue)"
    }
  }
}
