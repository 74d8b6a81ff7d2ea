import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives the machine of requests by hand, and writes down what comes out.
struct RequestBench: MachineBench {
  var machine: RequestStateMachine
  var now = ScriptedClient.start
  var book = BenchBook()
  private var lastAction = ClientAction.ID(rawValue: 0)

  init(
    _ capabilities: Capabilities = [.frames], canLogIn: Bool = false,
    _ change: (inout RequestConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = RequestConfiguration()
    configuration.reconnect = RequestConfiguration.fixedDelay
    configuration.heartbeatInterval = nil
    change(&configuration)
    machine = try RequestStateMachine(
      configuration, capabilities: capabilities, canLogIn: canLogIn)
  }

  /// A bench whose connection is open.
  static func open(
    _ capabilities: Capabilities = [.frames], canLogIn: Bool = false,
    _ change: (inout RequestConfiguration) -> Void = { _ in }
  ) throws -> RequestBench {
    var bench = try RequestBench(capabilities, canLogIn: canLogIn, change)
    bench.call("open", .open)
    if capabilities.contains(.frames) { bench.receive(.connected(.init())) }
    _ = bench.take()
    return bench
  }

  mutating func take(_ outputs: [RequestStateMachine.Output]) {
    for output in outputs { book.lines.append(line(output)) }
  }

  mutating func request(
    _ name: String, _ parameters: JSONValue = [:], timeout: Duration = .seconds(15),
    resendCount: Int? = nil, isLogin: Bool = false, parser: RequestParser = .json
  ) {
    call(
      name,
      .request(
        OutgoingRequest(
          content: RequestContent(
            product: "app", service: "s/\(name)", method: .post, parameters: parameters),
          parser: parser, timeout: timeout,
          resendCount: resendCount ?? machine.configuration.resendCount,
          ticket: book.lastCall + 1, isLogin: isLogin)))
  }

  mutating func takeBack(_ name: String) {
    guard let id = book.call(named: name) else { return }
    call("taking back", .takeBack(ticket: id.rawValue))
  }

  mutating func refuseLast(_ code: DataClientError.Code) {
    input(.refused(lastAction, DataClientError(code, "no")))
  }

  mutating func answer(_ id: Int, _ content: JSONValue = ["ok": 1]) {
    let answer: JSONValue = [
      "uniqueId": .number(String(id)), "service": "s",
      "content": .string(String(decoding: content.utf8, as: UTF8.self)),
    ]
    text(answer)
  }

  mutating func refuse(_ id: Int, code: Int) {
    text([
      "uniqueId": .number(String(id)), "service": "s",
      "error": ["code": .number(String(code)), "desc": "no"], "content": "{}",
    ])
  }

  mutating func text(_ value: JSONValue) {
    receive(.text(String(decoding: value.utf8, as: UTF8.self)))
  }

  /// Answers a request of the transport's own.
  mutating func respond(_ action: UInt32, _ body: String) {
    receive(.response(ClientAction.ID(rawValue: action), ResponseMessage(body: Array(body.utf8))))
  }

  private mutating func line(_ output: RequestStateMachine.Output) -> String {
    switch output {
    case .perform(let action):
      lastAction = action.id
      return Self.line(action.kind)
    case .complete(let id, .success(.done)): return "\(book.name(of: id) ?? "?") done"
    case .complete(let id, .success(.answer(let answer))):
      return "\(book.name(of: id) ?? "?") = \(String(decoding: answer.content.utf8, as: UTF8.self))"
    case .complete(let id, .failure(let error)):
      let code = error.serverCode.map { "/\($0)" } ?? ""
      return "\(book.name(of: id) ?? "?") failed \(error.kind.rawValue)\(code)"
    case .tell(.changeState(let change)): return "state \(change.state)"
    case .tell(.push(.json(let value))):
      return "push \(String(decoding: value.utf8, as: UTF8.self))"
    case .tell(.push(.text(let text))): return "push text \(text)"
    case .tell(.push(.binary(let bytes))): return "push \(bytes.count) bytes"
    case .tell(.needsLogin): return "login"
    }
  }

  private static func line(_ kind: ClientAction.Kind) -> String {
    switch kind {
    case .connect: "CONNECT"
    case .disconnect: "DISCONNECT"
    case .sendText(let text):
      if let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer {
        "\(value["service"]?.text ?? "?") \(id)"
      } else {
        text
      }
    case .send(let request):
      "\(request.method) \(request.path) \(request.texts.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })"
    case .subscribe, .unsubscribe, .publish, .sendBinary: "?"
    }
  }
}
