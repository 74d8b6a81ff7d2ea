// Takes a link's machine alone, without a driver and a client, through as many heartbeats as one likes, in virtual time,
// and says how many seconds that took. The machine is the package's own, so that this is one of its programs.
//
//     link-beats COUNT

import DeviceSDK
import Glibc
import RepriseCore

guard CommandLine.arguments.count == 2, let count = Int(CommandLine.arguments[1]), count > 0 else {
  print("link-beats COUNT")
  exit(2)
}

/// The server of one link, which costs next to nothing, so that what is measured is the machine.
struct Server {
  private let ping: String
  private let pong: String
  private let login: String
  private let reply: String

  init(of configuration: LinkConfiguration) {
    let base = LinkTopics(message: configuration).base
    (ping, pong) = (base + "/up/ping", base + "/down/pong")
    (login, reply) = (base + "/up/login", base + "/down/reply")
  }

  func isPing(_ message: Message) -> Bool { message.topic == ping }

  /// What it answers.
  func answer(_ message: Message) -> Message? {
    if isPing(message) { return Message(topic: pong, payload: message.payload) }
    guard message.topic == login, let id = JSONValue(parsing: message.payload)?["id"]?.text
    else { return nil }
    return Message(topic: reply, payload: Array(#"{"id":"\#(id)","code":0}"#.utf8))
  }
}

/// Takes the machine through its heartbeats.
func beat(_ machine: inout MessageLinkMachine, _ server: Server, _ count: Int) {
  var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
  var inputs: [MessageLinkMachine.Input] = [.called(CallID(rawValue: 1), .login(token: "token"))]
  var next = 0
  var left = count
  while left > 0 {
    if next == inputs.count {
      inputs.removeAll(keepingCapacity: true)
      next = 0
      now = machine.deadline ?? now
      inputs.append(.received(.deadline))
    }
    let outputs = machine.handle(inputs[next], now: now)
    next += 1
    for output in outputs {
      guard case .perform(let action) = output else { continue }
      switch action.kind {
      case .connect: inputs.append(.received(.connected(.init())))
      case .subscribe(let wanted):
        inputs.append(.received(.subscribed(action.id, wanted.map { $0.qos })))
      case .publish(let message):
        inputs.append(.received(.published(action.id)))
        guard let reply = server.answer(message) else { continue }
        inputs.append(.received(.message(reply)))
        if server.isPing(message) { left -= 1 }
      default: continue
      }
    }
  }
}

var configuration = LinkConfiguration(appID: "app", userID: "user", sessionID: "1")
configuration.heartbeatInterval = .seconds(5)
var machine = try MessageLinkMachine(configuration)
let server = Server(of: configuration)
let clock = ContinuousClock()
let start = clock.now
beat(&machine, server, count)
print((clock.now - start) / .seconds(1))
