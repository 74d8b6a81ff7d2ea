import RepriseCore

/// Sees every stage of every request of a provider, and may change what comes of it.
///
/// The stages are, in this order: `willSend`, `willReceive`, `process`, the caller's completion,
/// `didReceive`; a caller who awaits goes on behind `didReceive`. Plugins are asked in the order in which the
/// provider has them. All stages come for every request, just once, also when it fails before it is sent, or
/// is taken back; and for the logins that a provider's own connection makes. From `willReceive` on results know the
/// number that their request went out with: ``RequestAnswer/id``, ``RequestError/id``.
public protocol RequestPlugin: Sendable {
  /// A request is about to be sent.
  func willSend(_ target: any RequestTarget)
  /// There is a result, as the connection gave it.
  func willReceive(_ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget)
  /// Makes another result of it, or leaves it.
  func process(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) -> Result<RequestAnswer, RequestError>
  /// The caller has the result, as all plugins left it, or gets it next if it awaits.
  func didReceive(_ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget)
}

extension RequestPlugin {
  /// Does nothing.
  public func willSend(_ target: any RequestTarget) {}
  /// Does nothing.
  public func willReceive(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) {}
  /// Leaves the result as it is.
  public func process(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) -> Result<RequestAnswer, RequestError> { result }
  /// Does nothing.
  public func didReceive(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) {}
}

extension [any RequestPlugin] {
  /// Shows every stage of a request to all plugins.
  /// - Parameters:
  ///   - target: What is asked for.
  ///   - send: Sends it.
  /// - Returns: The answer, as all plugins left it.
  /// - Throws: ``RequestError``, as all plugins left it, and `DataClientError` when the client's world is
  ///   broken.
  func follow(
    _ target: any RequestTarget, _ send: () async throws -> RequestAnswer
  ) async throws -> RequestAnswer {
    for plugin in self { plugin.willSend(target) }
    let final: Result<RequestAnswer, RequestError>
    do {
      final = process(.success(try await send()), of: target)
    } catch let error as RequestError {
      final = process(.failure(error), of: target)
    } catch let error as DataClientError {
      // The world is broken, which no plugin can mend; they hear of it all the same.
      let broken = process(.failure(RequestError(.serverConnection, error.message)), of: target)
      for plugin in self { plugin.didReceive(broken, of: target) }
      throw error
    }
    for plugin in self { plugin.didReceive(final, of: target) }
    return try final.get()
  }

  /// Shows a result to all plugins, and has each of them process it.
  func process(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) -> Result<RequestAnswer, RequestError> {
    for plugin in self { plugin.willReceive(result, of: target) }
    return reduce(result) { $1.process($0, of: target) }
  }
}

/// Takes an answer whose `ret_code` is not `0000` for an error, as the services of the model mean it.
public struct BusinessErrors: RequestPlugin {
  /// Whether the answer's content becomes what stands under `result`.
  public var unwrapsResult: Bool

  /// Creates the plugin.
  /// - Parameter unwrapsResult: Whether the answer's content becomes what stands under `result`.
  public init(unwrapsResult: Bool = false) { self.unwrapsResult = unwrapsResult }

  /// Makes an error of an answer that is one.
  public func process(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) -> Result<RequestAnswer, RequestError> {
    result.flatMap { answer in
      guard let code = answer.content["ret_code"]?.identifier, code == "0000" else {
        return .failure(Self.error(answer))
      }
      guard unwrapsResult else { return .success(answer) }
      return .success(
        RequestAnswer(
          service: answer.service, content: answer.content["result"] ?? .null, id: answer.id))
    }
  }

  private static func error(_ answer: RequestAnswer) -> RequestError {
    guard let code = answer.content["ret_code"]?.identifier else {
      return numbered(
        RequestError(.invalidResponse, "the answer of \(answer.service) has no ret_code"), answer)
    }
    let message = answer.content["ret_msg"]?.text ?? "\(answer.service) refused"
    return numbered(RequestError(.business, message, businessCode: code), answer)
  }

  private static func numbered(_ error: RequestError, _ answer: RequestAnswer) -> RequestError {
    var error = error
    error.id = answer.id
    return error
  }
}

/// Writes a line for each request and for each result; never parameters or content.
public struct RequestLogger: RequestPlugin {
  private let write: @Sendable (String) -> Void

  /// Creates the plugin.
  /// - Parameter write: Takes the lines.
  public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// Writes that a request is sent.
  public func willSend(_ target: any RequestTarget) {
    write("→ \(target.method.rawValue) \(target.service)")
  }

  /// Writes what became of a request.
  public func didReceive(
    _ result: Result<RequestAnswer, RequestError>, of target: any RequestTarget
  ) {
    switch result {
    case .success(let answer):
      write("← \(target.service)\(answer.id.map { " (request \($0))" } ?? "")")
    case .failure(let error): write("← \(target.service) \(error)")
    }
  }
}
