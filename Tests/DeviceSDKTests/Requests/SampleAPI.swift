import RepriseCore
import Synchronization
import TestSupport

@testable import DeviceSDK

/// What the servers of these tests are asked for.
enum SampleAPI: RequestTarget {
  case analyze(question: String)
  case bare

  var service: String {
    switch self {
    case .analyze: "test-services/nlu/analyze"
    case .bare: "bare"
    }
  }

  var parameters: JSONValue {
    switch self {
    case .analyze(let question): ["userId": 1, "robotId": "1", "question": .string(question)]
    case .bare: [:]
    }
  }

  var product: String? { if case .bare = self { "other" } else { nil } }
  var method: RequestMethod { if case .bare = self { .put } else { .post } }
  var timeout: Duration? { if case .bare = self { .seconds(9) } else { nil } }
  var resendCount: Int? { if case .bare = self { 1 } else { nil } }

  var sampleData: [UInt8]? {
    if case .analyze = self {
      Array(#"{"ret_code":"0000","result":{"mood":"well"}}"#.utf8)
    } else {
      nil
    }
  }
}

struct Analysis: Decodable, Sendable, Equatable { let mood: String }

/// Writes down which stages it sees.
final class Stages: RequestPlugin {
  private let lines = Mutex<[String]>([])
  var seen: [String] { lines.withLock { $0 } }

  private func add(_ line: String) { lines.withLock { $0.append(line) } }
  func add(completed result: Result<RequestAnswer, RequestError>) {
    add("completed \(Self.text(result))")
  }

  private static func text(_ result: Result<RequestAnswer, RequestError>) -> String {
    switch result {
    case .success: "ok"
    case .failure(let error): "\(error.kind.rawValue)"
    }
  }

  func willSend(_ target: any RequestTarget) { add("willSend \(target.service)") }
  func willReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    add("willReceive \(Self.text(result))")
  }
  func process(
    _ result: Result<RequestAnswer, RequestError>, of: any RequestTarget
  ) -> Result<RequestAnswer, RequestError> {
    add("process")
    return result
  }
  func didReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    add("didReceive \(Self.text(result))")
  }
}

/// Servers of requests that the tests script.
extension ScriptedClient {
  /// A server that answers every request with a content; heartbeats get nothing.
  static func answering(_ content: JSONValue) -> ScriptedClient {
    ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"],
          value["content"] != nil
        else { return [] }
        let answer: JSONValue = [
          "uniqueId": id, "service": value["service"] ?? .null, "content": content,
        ]
        return [.text(String(decoding: answer.utf8, as: UTF8.self))]
      case .subscribe, .unsubscribe, .publish, .send, .sendBinary: return []
      }
    }
  }

  /// An answer of a service that did what it was asked for.
  static let goodAnswer: JSONValue = [
    "ret_code": "0000", "ret_msg": "done", "result": ["mood": "well"],
  ]

  /// The texts that were sent to it.
  var sentTexts: [String] {
    performed.compactMap { if case .sendText(let text) = $0.kind { text } else { nil } }
  }
}
