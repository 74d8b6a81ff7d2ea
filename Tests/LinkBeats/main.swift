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

/// What a server answers.
func answer(_ message: Message) -> Message? {
  let topic = message.topic
  if topic.hasSuffix("/up/ping") {
    return Message(topic: String(topic.dropLast(7)) + "down/pong", payload: message.payload)
  }
  guard topic.hasSuffix("/up/login"), let id = JSONValue(parsing: message.payload)?["id"]?.text
  else { return nil }
  return Message(
    topic: String(topic.dropLast(8)) + "down/reply",
    payload: Array(#"{"id":"\#(id)","code":0}"#.utf8))
}

/// Takes the machine through its heartbeats.
func beat(_ machine: inout MessageLinkMachine, _ count: Int) {
  var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
  var inputs: [MessageLinkMachine.Input] = [.called(CallID(rawValue: 1), .login(token: "token"))]
  var left = count
  while left > 0 {
    if inputs.isEmpty {
      now = machine.deadline ?? now
      inputs.append(.received(.deadline))
    }
    let batch = inputs
    inputs.removeAll(keepingCapacity: true)
    for input in batch {
      for output in machine.handle(input, now: now) {
        guard case .perform(let action) = output else { continue }
        switch action.kind {
        case .connect: inputs.append(.received(.connected(.init())))
        case .subscribe(let wanted):
          inputs.append(.received(.subscribed(action.id, wanted.map { $0.qos })))
        case .publish(let message):
          inputs.append(.received(.published(action.id)))
          guard let reply = answer(message) else { continue }
          inputs.append(.received(.message(reply)))
          if message.topic.hasSuffix("/up/ping") { left -= 1 }
        default: continue
        }
      }
    }
  }
}

var configuration = LinkConfiguration(appID: "app", userID: "user", sessionID: "1")
configuration.heartbeatInterval = .seconds(5)
var machine = try MessageLinkMachine(configuration)
let clock = ContinuousClock()
let start = clock.now
beat(&machine, count)
print((clock.now - start) / .seconds(1))
