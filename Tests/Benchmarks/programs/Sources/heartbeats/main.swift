// Lets a link live for as many heartbeats as one likes, in virtual time, and says how long that took.
//
//     heartbeats COUNT
//
// Prints the seconds that passed, the seconds that the link believes to have passed, and the seconds that the link's
// machine alone takes for the same.

import Answering
import DeviceSDK
import Glibc
import RepriseCore
import Synchronization

final class Beats: Sendable {
  let count = Atomic<Int>(0)
}

guard CommandLine.arguments.count == 2, let count = Int(CommandLine.arguments[1]), count > 0 else {
  print("heartbeats COUNT")
  exit(2)
}
let beats = Beats()
let (enough, end) = AsyncStream<Never>.makeStream()

@Sendable func answer(_ message: Message) -> Message? {
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

let server = AnsweringClient { message in
  if message.topic.hasSuffix("/up/ping"),
    beats.count.wrappingAdd(1, ordering: .relaxed).newValue == count
  {
    end.finish()
  }
  return answer(message)
}
var configuration = LinkConfiguration(appID: "app", userID: "user", sessionID: "1")
configuration.heartbeatInterval = .seconds(5)

/// Takes the machine alone through its heartbeats.
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

let clock = ContinuousClock()
try await withLink(on: server, configuration: configuration) { link in
  try await link.login(token: "token")
  let (start, begin) = (clock.now, server.now)
  for await _ in enough {}
  let (seconds, virtual) = (
    (clock.now - start) / .seconds(1), server.now.nanoseconds(since: begin) / 1_000_000_000
  )
  server.holdTime()
  guard link.state == .connected else {
    print("the link is not connected any more")
    exit(1)
  }
  var machine = try MessageLinkMachine(configuration)
  let again = clock.now
  beat(&machine, count)
  print(seconds, virtual, (clock.now - again) / .seconds(1))
}
