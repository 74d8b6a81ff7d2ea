// Brings sub-devices online on one gateway, has each post once, and says how long that took.
//
//     lines COUNT
//
// Prints the seconds that setting the lines up took, adding their topology, logging them in, and the posts, each with
// its reply. The cloud answers at once.

import Answering
import DeviceSDK
import Glibc
import RepriseCore

struct Lamp: SubdeviceConnection {
  let words: SubdeviceInfo
  let isReady = true

  init(_ number: Int) throws {
    let credentials = DeviceCredentials(
      productKey: "a1lamp", deviceName: "lamp-\(number)", deviceSecret: "made up")
    words = try SubdeviceInfo(signing: credentials, clientID: "\(number)")
  }

  func open() async throws {}
  func close() async throws {}
  func info() throws -> SubdeviceInfo { words }
}

guard CommandLine.arguments.count == 2, let count = Int(CommandLine.arguments[1]), count >= 0 else {
  print("lines COUNT")
  exit(2)
}
let lamps = try (0..<count).map(Lamp.init)
let cloud = AnsweringClient { message in
  guard let id = JSONValue(parsing: message.payload)?["id"]?.text else { return nil }
  return Message(
    topic: message.topic + "_reply", payload: Array(#"{"id":"\#(id)","code":200,"data":{}}"#.utf8))
}
var configuration = GatewayConfiguration(
  .own(try ChannelIdentity(productKey: "a1pk", deviceName: "phone")))
configuration.limits.online = max(1, count)
configuration.limits.loginsPerRequest = 50
let clock = ContinuousClock()
try await withGateway(on: cloud, configuration: configuration) { gateway in
  try await gateway.start()
  var marks = [clock.now]
  var lines: [GatewayLine] = []
  for lamp in lamps { lines.append(try await gateway.line(for: lamp)) }
  marks.append(clock.now)
  try await gateway.addTopology(lines)
  marks.append(clock.now)
  try await gateway.goOnline(lines)
  marks.append(clock.now)
  for line in lines { _ = try await line.post(properties: ["Power": 1]) }
  marks.append(clock.now)
  guard lines.allSatisfy(\.isOnline) else {
    print("not all lines are online")
    exit(1)
  }
  print(zip(marks, marks.dropFirst()).map { "\(($1 - $0) / .seconds(1))" }.joined(separator: " "))
}
