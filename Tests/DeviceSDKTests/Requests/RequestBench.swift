import RepriseCore
import TestSupport

@testable import DeviceSDK

/// Drives the machine of requests by hand, and writes down what comes out.
struct RequestBench {
  var machine: RequestStateMachine
  var now = ScriptedClient.start
  private var lines: [String] = []
  private var lastCall: UInt64 = 0
  private var names: [CallID: String] = [:]
  private var ids: [String: CallID] = [:]
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
    if capabilities.contains(.frames) { bench.event(.connected(.init())) }
    _ = bench.take()
    return bench
  }

  /// Returns the lines since the last time.
  mutating func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  mutating func input(_ input: RequestStateMachine.Input) {
    for output in machine.handle(input, now: now) { lines.append(line(output)) }
  }

  mutating func call(_ name: String, _ call: RequestStateMachine.Call) {
    lastCall += 1
    let id = CallID(rawValue: lastCall)
    names[id] = name
    ids[name] = id
    input(.called(id, call))
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
          ticket: lastCall + 1, isLogin: isLogin)))
  }

  mutating func cancel(_ name: String) { if let id = ids[name] { input(.cancelled(id)) } }

  mutating func takeBack(_ name: String) {
    guard let id = ids[name] else { return }
    call("taking back", .takeBack(ticket: id.rawValue))
  }

  mutating func refuseLast(_ code: DataClientError.Code) {
    input(.refused(lastAction, DataClientError(code, "no")))
  }

  mutating func event(_ event: ClientEvent) { input(.received(event)) }

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
    event(.text(String(decoding: value.utf8, as: UTF8.self)))
  }

  /// Answers a request of the transport's own.
  mutating func respond(_ action: UInt32, _ body: String) {
    event(.response(ClientAction.ID(rawValue: action), ResponseMessage(body: Array(body.utf8))))
  }

  /// Lets time pass, with every deadline on the way.
  mutating func wait(_ seconds: Double) {
    let end = now.advanced(by: .seconds(seconds))
    while let deadline = machine.deadline, deadline <= end {
      now = max(now, deadline)
      event(.deadline)
    }
    now = end
  }

  private mutating func line(_ output: RequestStateMachine.Output) -> String {
    switch output {
    case .perform(let action):
      lastAction = action.id
      return Self.line(action.kind)
    case .complete(let id, .success(.done)): return "\(names[id] ?? "?") done"
    case .complete(let id, .success(.answer(let answer))):
      return "\(names[id] ?? "?") = \(String(decoding: answer.content.utf8, as: UTF8.self))"
    case .complete(let id, .failure(let error)):
      let code = error.serverCode.map { "/\($0)" } ?? ""
      return "\(names[id] ?? "?") failed \(error.kind.rawValue)\(code)"
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
