import Foundation
import LiveClient
public import RepriseCore
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server of HTTP as a world: it answers requests and does nothing else.
///
/// The path of a request is appended to the base URL. `GET`, `HEAD` and `TRACE` carry the parameters in
/// the query, sorted by name; every other method carries them as a JSON object. Every answer of the
/// server is a `ClientEvent.response(_:_:)` with its status, 401 and 404 too, but for one that names
/// another place: the answer is that of the other place. A request that gets no answer is told by
/// `ClientEvent.failed(_:_:)`, with the cause `noNetwork` where this machine has none.
///
/// An answer whose body is longer than the client takes is told as a failure, and is read no further.
///
/// The secrets of TLS go to the file that `SSLKEYLOGFILE` names, if it does: libcurl appends them, below URLSession, where
/// it is built with OpenSSL, as Debian's is. Only the user may read the file when it is created here.
///
/// There is no connection to open: `connect`, like everything but `send`, is not supported.
///
/// At most ``maximumOpenRequests`` requests may be unanswered or have their answer waiting for
/// ``next(before:)``; another one is refused with `DataClientError.Code.transport`.
public final class HTTPClient: DataClient {
  /// How many requests may be open or unread.
  public static let maximumOpenRequests = 256

  private let base: URLComponents
  private let session: URLSession
  private let answers: HTTPAnswers
  private let events: EventQueue
  private let timer: WorkerThread
  private let openRequests: OpenRequests

  /// Creates a client.
  /// - Parameters:
  ///   - url: What the paths of requests are relative to: `https://host:port/path`. A user name and a
  ///     password before the host are sent with each request (RFC 7617).
  ///   - timeout: How many seconds a request may take without anything coming; more than 0, and counted
  ///     in whole seconds, of which 1,000,000 are without end.
  ///   - answerLimit: The longest body of an answer that is taken, in bytes; 16 MiB if not stated.
  /// - Throws: `DataClientError` when the URL can't be read, no request could be answered in the time, or the
  ///   system is out of threads.
  public init(
    url: String, timeout: Double = 60, answerLimit: Int = 16 << 20
  ) throws(DataClientError) {
    guard
      let base = URLComponents(string: url), let scheme = base.scheme?.lowercased(),
      ["http", "https"].contains(scheme), base.host?.isEmpty == false, base.query == nil,
      base.fragment == nil
    else {
      throw DataClientError(.unreadable, "the server's URL is not http://host or https://host")
    }
    guard timeout > 0 else {
      throw DataClientError(.invalidAction, "no request is answered within \(timeout) seconds")
    }
    // libcurl, which writes it, would create it for others to read.
    if scheme == "https" { KeyLog.create() }
    self.base = base
    let configuration = URLSessionConfiguration.ephemeral
    // Foundation on Linux cuts a part of a second off, and can't count to what is no Int.
    configuration.timeoutIntervalForRequest = min(timeout.rounded(.up), 1_000_000)
    configuration.urlCache = nil
    let events = try EventQueue(limit: Self.maximumOpenRequests, byteLimit: .max) {}
    self.events = events
    let host = base.host ?? ""
    answers = HTTPAnswers(limit: answerLimit) { id, answer in
      events.append([Self.event(id, answer, from: host)])
    }
    session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    openRequests = OpenRequests()
    timer = try WorkerThread { events.runTimer() }
  }

  deinit {
    session.invalidateAndCancel()
    events.stop()
    timer.join()
  }

  /// Requests, and nothing else.
  public var capabilities: Capabilities { [.requests, .binary] }

  /// The time: that of the day when the client was created, then of the monotonic clock.
  ///
  /// It stands still while events wait; each event takes it to the moment at which it came.
  public var now: Timestamp { events.now }

  /// Sends a request.
  /// - Parameter action: A `send` action.
  /// - Throws: `DataClientError` when nothing was sent.
  public func perform(_ action: ClientAction) async throws {
    guard case .send(let message) = action.kind else {
      throw DataClientError(.unsupported, "a server of HTTP takes requests only")
    }
    let request = try urlRequest(message)
    guard openRequests.begin(atMost: Self.maximumOpenRequests) else {
      throw DataClientError(
        .transport, "\(Self.maximumOpenRequests) requests are unanswered or unread")
    }
    let task = session.dataTask(with: request)
    answers.await(task, of: action.id)
    task.resume()
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting; nil waits however long it takes.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task is waiting.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = try await events.next(before: deadline)
    switch event {
    case .response, .failed: openRequests.end()
    default: break
    }
    return event
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `ClientEvent.woken`.
  public func wake() { events.wake() }

  // MARK: - Requests and answers

  private func urlRequest(_ message: RequestMessage) throws(DataClientError) -> URLRequest {
    let method = message.method.uppercased()
    guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
      throw DataClientError(.invalidAction, "\(message.method) is no method of HTTP")
    }
    var components = base
    let target = message.target(below: base.percentEncodedPath)
    let parts = target.split(separator: "?", maxSplits: 1)
    components.percentEncodedPath = parts.first.map(String.init) ?? "/"
    components.percentEncodedQuery = parts.count > 1 ? String(parts[1]) : nil
    guard let url = components.url else {
      throw DataClientError(.invalidAction, "\(message.path) makes no URL")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if let body = message.body {
      request.httpBody = Data(body)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    return request
  }

  private static func event(
    _ id: ClientAction.ID, _ answer: HTTPAnswers.Answer, from host: String
  ) -> ClientEvent {
    switch answer {
    case .complete(let body, let response as HTTPURLResponse):
      .response(id, ResponseMessage(status: response.statusCode, body: body))
    case .complete: .failed(id, .unanswered(.malformed, "it is not HTTP"))
    case .tooLong(let limit):
      .failed(id, .unanswered(.malformed, "its body is longer than \(limit) bytes"))
    case .failed(let error):
      .failed(id, .unanswered(cause(of: error, from: host), error.localizedDescription))
    }
  }

  private static func cause(of error: any Error, from host: String) -> ActionFailure.Cause {
    guard let code = (error as? URLError)?.code else { return .other }
    switch code {
    // Foundation on Linux has no code for a network that can't be reached: a connection is not made for a reason that it
    // does not know, and a name is not found. One that was refused, by contrast, met somebody.
    case .unknown, .cannotFindHost, .dnsLookupFailed:
      if [InterfaceAddress].lackWay(to: host) { return .noNetwork }
      return code == .unknown ? .other : .nameNotResolved
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: return .noNetwork
    case .cannotConnectToHost: return .unreachable
    case .timedOut: return .timedOut
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
      .clientCertificateRejected, .clientCertificateRequired:
      return .notTrusted
    case .networkConnectionLost, .cancelled: return .lost
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData:
      return .malformed
    default: return .other
    }
  }
}

/// How many requests have not been answered to the user yet.
private final class OpenRequests: Sendable {
  private let count = Mutex(0)

  func begin(atMost limit: Int) -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  func end() { count.withLock { $0 -= 1 } }
}
