import Foundation
import RepriseCore
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Puts the answers of a session together, as they come, up to a length.
final class HTTPAnswers: NSObject, URLSessionDataDelegate {
  /// What became of a request.
  enum Answer {
    /// All of it came.
    case complete([UInt8], URLResponse?)
    /// Its body is longer than so many bytes.
    case tooLong(limit: Int)
    /// It did not come, or not as a whole.
    case failed(any Error)
  }

  private struct Pending {
    let id: ClientAction.ID
    var body: [UInt8] = []
    var isTooLong = false
    /// The answer that asks for a user name and a password.
    var demand: URLResponse?
  }

  private let limit: Int
  private let tell: @Sendable (ClientAction.ID, Answer) -> Void
  /// What is not answered, by the numbers of the session's tasks.
  private let pending = Mutex<[Int: Pending]>([:])

  /// Creates what waits for no answer.
  /// - Parameters:
  ///   - limit: The longest body that is taken, in bytes.
  ///   - tell: Called once for each request, on the session's thread.
  init(limit: Int, tell: @escaping @Sendable (ClientAction.ID, Answer) -> Void) {
    self.limit = max(0, limit)
    self.tell = tell
  }

  /// Has the answer to a task told as that to an action; to be called before the task is resumed.
  func await(_ task: URLSessionTask, of id: ClientAction.ID) {
    pending.withLock { $0[task.taskIdentifier] = Pending(id: id) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = pending.withLock { pending in
      guard var answer = pending.removeValue(forKey: dataTask.taskIdentifier) else { return false }
      defer { pending[dataTask.taskIdentifier] = answer }
      // What the system had read before it was told to stop.
      guard !answer.isTooLong else { return false }
      guard data.count <= limit - answer.body.count else {
        answer.isTooLong = true
        answer.body = []
        return true
      }
      data.withUnsafeBytes { answer.body.append(contentsOf: $0) }
      return false
    }
    if isTooLong { dataTask.cancel() }
  }

  /// Takes an answer of status 401 as one like all others.
  ///
  /// Foundation on Linux never ends a request whose answer asks for a user name, unless it is given one or the
  /// request is cancelled.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) ->
      Void
  ) {
    guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
    else {
      return completionHandler(.performDefaultHandling, nil)
    }
    let demand = challenge.failureResponse ?? task.response
    pending.withLock { $0[task.taskIdentifier]?.demand = demand }
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let answer = pending.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    if answer.isTooLong {
      tell(answer.id, .tooLong(limit: limit))
    } else if let demand = answer.demand {
      tell(answer.id, .complete(answer.body, demand))
    } else if let error {
      tell(answer.id, .failed(error))
    } else {
      tell(answer.id, .complete(answer.body, task.response))
    }
  }
}
