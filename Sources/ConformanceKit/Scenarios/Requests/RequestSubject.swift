package import DeviceSDK
package import RepriseCore
import Synchronization

/// A machine that can stand in the place of the one for requests.
package protocol RequestMachine: StateMachine
where
  Call == RequestStateMachine.Call, Value == RequestStateMachine.Value,
  Effect == RequestStateMachine.Effect, Failure == RequestError
{
  /// What was counted.
  var statistics: RequestStatistics { get }
}

extension RequestStateMachine: RequestMachine {}

/// Requests over a WebSocket as scenarios drive them.
package final class RequestSubject<Machine: RequestMachine>: ScenarioSubject {
  private struct State {
    var text: RequestText
    /// What takes each request back, by the name of its outcome.
    var tickets: [String: UInt64] = [:]
    var lastTicket: UInt64 = 0
  }

  private let configuration: RequestConfiguration
  private let canLogIn: Bool
  private let pen: ScenarioPen
  private let wrap: @Sendable (RequestStateMachine) -> Machine
  private let state: Mutex<State>

  /// Creates the subject of one run.
  /// - Parameters:
  ///   - scenario: What configures the requests.
  ///   - pen: What lines are written by.
  ///   - wrap: Makes the machine that is under test of the SDK's own.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package init(
    _ scenario: Scenario, pen: ScenarioPen,
    wrap: @escaping @Sendable (RequestStateMachine) -> Machine
  ) throws {
    let settings = try RequestSettings(scenario)
    configuration = settings.configuration
    canLogIn = settings.canLogIn
    self.pen = pen
    self.wrap = wrap
    state = Mutex(State(text: RequestText(product: configuration.product)))
  }

  /// Closes the connection.
  package var goodbye: Machine.Call { .close }

  /// Creates the machine that is under test.
  package func makeMachine() throws -> Machine {
    wrap(try RequestStateMachine(configuration, capabilities: [.frames], canLogIn: canLogIn))
  }

  // MARK: The application

  /// Does what a step of the application does, as far as it needs no machine.
  package func perform(_ step: ScenarioStep) throws -> ScenarioAct<Machine> {
    guard let kind = step.fields["call"]?.text else {
      throw ConformanceError(.badCatalogue, "requests do not know the step \(step.summary)")
    }
    guard kind != "statistics" else { return .ask { [RequestText.line($0.statistics)] } }
    let name = step.fields["as"]?.text ?? kind
    return .call(try call(kind, name, step.fields), as: name)
  }

  private func call(
    _ kind: String, _ name: String, _ fields: JSONValue
  ) throws(ConformanceError) -> Machine.Call {
    switch kind {
    case "open": return .open
    case "close": return .close
    case "request": return .request(request(name, fields))
    case "cancel":
      let ticket = state.withLock { $0.tickets[fields["of"]?.text ?? "request"] }
      guard let ticket else {
        throw ConformanceError(.badCatalogue, "nothing was asked for that could be taken back")
      }
      return .takeBack(ticket: ticket)
    case "reachable": return .setReachable(fields["is"] != .bool(false))
    case "login":
      let failure = fields["error"]?.integer
      return .finishLogin(
        failure.map { RequestError(.server, "the login failed", serverCode: $0) })
    default: throw ConformanceError(.badCatalogue, "requests do not know the call \(kind)")
    }
  }

  private func request(_ name: String, _ fields: JSONValue) -> OutgoingRequest {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      state.tickets[name] = state.lastTicket
      return state.lastTicket
    }
    return OutgoingRequest(
      ScenarioTarget(fields), configuration, ticket: ticket,
      isLogin: fields["isLogin"] == .bool(true))
  }

  // MARK: The server

  /// Requests have no topics.
  package func message(_ step: ScenarioStep) throws -> Message {
    throw ConformanceError(.badCatalogue, "a server of requests sends text or bytes")
  }

  /// Reads what the server does in a step.
  package func cloud(_ step: ScenarioStep) throws -> CloudStep? {
    let fields = step.fields
    switch fields["cloud"]?.text {
    case "refuses": return .frame(.refuse(try Self.refusal(fields)))
    case "answers": return .frame(.text(try answer(fields)))
    case "sends": return .frame(try sends(fields))
    case "hangs up":
      return .frame(.close(code: UInt16(clamping: fields["code"]?.integer ?? 1_000)))
    default: return try step.cloud(message: message)
    }
  }

  private static func refusal(
    _ fields: JSONValue
  ) throws(ConformanceError) -> FrameStep.Refusal {
    if let status = fields["status"]?.integer { return .status(status) }
    switch fields["how"]?.text {
    case "wrong accept": return .wrongAccept
    case "foreign subprotocol": return .foreignSubprotocol
    default:
      throw ConformanceError(.badCatalogue, "a server refuses with a status, or says how")
    }
  }

  private func answer(_ fields: JSONValue) throws(DataClientError) -> String {
    var members: [JSONMember] = []
    if let content = fields["content"] {
      // As the first servers of the model did: the content is a text that holds JSON.
      let text = String(decoding: content.utf8, as: UTF8.self)
      members.append(JSONMember("content", .string(text)))
    }
    if let error = fields["error"] { members.append(JSONMember("error", error)) }
    let name = fields["to"]?.text ?? ""
    guard let text = state.withLock({ $0.text.answer(to: name, members) }) else {
      // It is the subject that should have sent it, as where no CONNECT is open.
      throw DataClientError(.noAnswer, "the subject sent no message \(name) to be answered")
    }
    return text
  }

  private func sends(_ fields: JSONValue) throws(ConformanceError) -> FrameStep {
    if let text = fields["text"]?.text { return .text(text) }
    if let json = fields["json"] {
      let value = state.withLock { $0.text.replacingNames(in: json) }
      return .text(String(decoding: value.utf8, as: UTF8.self))
    }
    if case .array(let values) = fields["bytes"] {
      return .binary(values.map { UInt8(clamping: $0.integer ?? 0) })
    }
    throw ConformanceError(.badCatalogue, "a server sends text, json or bytes")
  }

  // MARK: Lines

  /// Returns the line of an action that the machine had performed.
  package func line(_ action: ClientAction) -> String { state.withLock { $0.text.line(action) } }

  /// Returns the line of a call that was completed.
  package func line(_ name: String, _ result: Result<Machine.Value, any Error>) -> String {
    RequestText.line(
      name,
      result.mapError { error in
        (error as? RequestError) ?? RequestError(.serverConnection, "\(error)")
      })
  }

  /// Writes what the application was told.
  package func take(_ effect: Machine.Effect) { pen.write(RequestText.line(effect)) }

  /// Does nothing: nobody listens.
  package func finish() {}
}

extension RequestSubject where Machine == RequestStateMachine {
  /// Creates the subject of one run of the right machine.
  /// - Parameters:
  ///   - scenario: What configures the requests.
  ///   - pen: What lines are written by.
  /// - Throws: ``ConformanceError`` for an unknown setting.
  package convenience init(_ scenario: Scenario, pen: ScenarioPen) throws {
    try self.init(scenario, pen: pen) { $0 }
  }
}

/// What a scenario asks for.
private struct ScenarioTarget: RequestTarget {
  let service: String
  let product: String?
  let method: RequestMethod
  let parameters: JSONValue
  let timeout: Duration?
  let resendCount: Int?

  init(_ fields: JSONValue) {
    service = fields["service"]?.text ?? "ask"
    product = fields["product"]?.text
    method = fields["method"]?.text.flatMap(RequestMethod.init) ?? .post
    parameters = fields["params"] ?? [:]
    timeout = fields["timeout"]?.seconds
    resendCount = fields["resendCount"]?.integer
  }
}
