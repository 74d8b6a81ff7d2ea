import DataClient
import DeviceSDK
import Glibc
import LiveClient

// An app that binds its user's account, hears of a lamp three times, and takes the binding back.
//
//     account-bind-app URL FILE
//
// What its client does and gets is recorded in FILE, which is made anew.

let words = CommandLine.arguments
guard words.count == 3 else {
  print("usage: account-bind-app URL FILE")
  exit(2)
}
let client = try RecordingClient(
  MosquittoClient(url: words[1]), to: FileSink(words[2]), url: words[1])
let triple = DeviceCredentials(
  productKey: "a1pk", deviceName: "phone1", deviceSecret: "secret-of-phone1")
let token = "token-of-lucy"

try await withChannel(on: client, configuration: .init(credentials: triple)) { channel in
  let reply = try await channel.invoke("/account/bind", ["iotToken": token])
  print("bound:", reply.code)
  for try await message in channel.messages(matching: "/thing/properties").prefix(3) {
    print(message.topic, String(decoding: message.payload, as: UTF8.self))
  }
  _ = try await channel.invoke("/account/unbind")
}
try client.finish()

/// A file that is written to its end, line by line.
struct FileSink: ByteSink {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw DataClientError(.notRecorded, "\(path) can't be written") }
  }

  func write(_ bytes: RawSpan) throws {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.byteCount else {
      throw DataClientError(.notRecorded, "the disk took \(count) of \(bytes.byteCount) bytes")
    }
  }
}
