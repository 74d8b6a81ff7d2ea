// Lets a link live for as many heartbeats as one likes, in virtual time, and says how long that took.
//
//     heartbeats COUNT
//
// Prints the seconds that passed, and the seconds that the link believes to have passed.

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
  print(seconds, virtual)
}
