// What receive.c does, over the port: the same messages, each as an event that is awaited.

import Glibc
import LiveClient
import RepriseCore

let arguments = CommandLine.arguments
guard arguments.count == 5, let wanted = Int(arguments[4]) else {
  print("receive HOST PORT TOPIC COUNT")
  exit(2)
}
print(try await seconds(of: wanted, topic: arguments[3]))

/// Receives where any task of a program does, not on the main actor, which costs a change of threads
/// more for each time of waiting.
@concurrent
func seconds(of wanted: Int, topic: String) async throws -> Double {
  let client = try MosquittoClient(url: "mqtt://\(arguments[1]):\(arguments[2])")
  try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), .connect(ConnectOptions())))
  let subscription = Subscription(topic, qos: .atMostOnce)
  var received = 0
  let clock = ContinuousClock()
  var first = clock.now
  while received < wanted {
    switch try await client.next(before: nil) {
    case .connected:
      try await client.perform(
        ClientAction(ClientAction.ID(rawValue: 2), .subscribe([subscription])))
    case .subscribed:
      print("ready")
      fflush(nil)
    case .message:
      received += 1
      if received == 1 { first = clock.now }
    case .closed(let why):
      print("closed: \(why)")
      exit(1)
    default: continue
    }
  }
  let took = (clock.now - first) / .seconds(1)
  try await client.perform(ClientAction(ClientAction.ID(rawValue: 3), .disconnect))
  return took
}
