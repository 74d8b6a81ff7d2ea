import Glibc
import LiveClient
import RepriseCore

// Publishes a thousand numbered messages, and writes a line for each one that is published. Then it
// waits: it is there to be killed, and what it had written by then must be with the broker.
//
//     live-publisher URL 3.1.1|5.0 QOS TOPIC FIRST-NUMBER

let words = CommandLine.arguments
guard words.count == 6, let qos = UInt8(words[3]).flatMap(QoS.init(rawValue:)),
  var number = UInt32(words[5])
else {
  put("usage: live-publisher URL 3.1.1|5.0 QOS TOPIC FIRST-NUMBER", to: STDERR_FILENO)
  exit(2)
}
let last = number + 1_000
let client = try MosquittoClient(url: words[1], version: words[2] == "5.0" ? .v5_0 : .v3_1_1)
try await client.perform(
  ClientAction(.init(rawValue: number), .connect(ConnectOptions(clientID: "publisher"))))
while true {
  switch try await client.next(before: nil) {
  case .connected: for _ in 0..<15 { try await publish() }
  case .published(let id):
    put("\(id.rawValue)", to: STDOUT_FILENO)
    try await publish()
  case let event:
    put("\(event)", to: STDERR_FILENO)
    exit(1)
  }
}

func publish() async throws {
  guard number < last else { return }
  number += 1
  let message = Message(topic: words[4], payload: [UInt8]("\(number)".utf8), qos: qos)
  try await client.perform(ClientAction(.init(rawValue: number), .publish(message)))
}

/// Writes a line: one write is all of it or nothing.
func put(_ line: String, to file: Int32) {
  let bytes = [UInt8]("\(line)\n".utf8)
  guard write(file, bytes, bytes.count) == bytes.count else { exit(1) }
}
