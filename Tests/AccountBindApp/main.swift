import DeviceSDK
import Glibc
import LiveClient
import RepriseCore

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
  MosquittoClient(url: words[1]), toFile: words[2], replacing: true, url: words[1])
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
