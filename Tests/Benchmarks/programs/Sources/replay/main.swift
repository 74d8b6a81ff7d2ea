// Runs the channel on the capture of one session, and says how long that took.
//
//     replay FILE
//
// Prints the seconds that reading the file took, the seconds that the channel took from its start to the end of the
// session, and the number of messages that a listener got.

import Capture
import DeviceSDK
import Glibc
import RepriseCore
import Synchronization

final class Counter: ChannelDownstreamListener {
  let count = Atomic<Int>(0)

  func shouldHandle(topic: String) -> Bool { true }

  func onDownstream(topic: String, message: ChannelMessage) {
    count.wrappingAdd(1, ordering: .relaxed)
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 2 else {
  print("replay FILE")
  exit(2)
}
let clock = ContinuousClock()
let start = clock.now
let client = try ReplayClient(contentsOf: arguments[1])
let ready = clock.now
let counter = Counter()
let configuration = ChannelConfiguration(
  appKey: "1", identity: try ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
try await withChannel(on: client, configuration: configuration) { channel in
  channel.addDownStreamListener(uiSafety: false, listener: counter)
  try await channel.start()
  // Its only user has nothing more to do until the session wants a DISCONNECT.
  _ = try await client.nextDueAction()
}
try client.finish()
print(
  (ready - start) / .seconds(1), (clock.now - ready) / .seconds(1),
  counter.count.load(ordering: .relaxed))
