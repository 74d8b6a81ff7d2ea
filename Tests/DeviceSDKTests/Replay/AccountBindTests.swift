import Capture
import DeviceSDK
import Foundation
import RepriseCore
import TestSupport
import Testing

/// The example of the README, on what was recorded of it: an app that binds an account and hears of a lamp.
@Suite struct AccountBindTests {
  private static let folder = PackageFolder.path("Recordings/account-bind")

  private let triple = DeviceCredentials(
    productKey: "a1pk", deviceName: "phone1", deviceSecret: "secret-of-phone1")
  private let token = "token-of-lucy"

  /// The token is hidden in the recording, and so may be any there.
  @Test(arguments: ["capture.pcap", "session.jsonl"])
  func theAppLivesThroughItAgain(file: String) async throws {
    let client = try ReplayClient(contentsOf: "\(Self.folder)/\(file)")
    var values: [String] = []
    try await withChannel(on: client, configuration: .init(credentials: triple)) { channel in
      let reply = try await channel.invoke("/account/bind", ["iotToken": token])
      #expect(reply.code == 200)
      for try await message in channel.messages(matching: "/thing/properties").prefix(3) {
        values.append(String(decoding: message.payload, as: UTF8.self))
      }
      #expect(try await channel.invoke("/account/unbind").code == 200)
    }
    try client.finish()
    #expect(values.count == 3)
    for (text, value) in zip(values, [1, 0, 1]) {
      #expect(text.contains(#""LightSwitch":{"#) && text.contains(#""value":\#(value)}"#))
    }
  }

  /// An app that stops in the middle is told where the session goes on.
  @Test func whoLeavesEarlierIsTold() async throws {
    let client = try ReplayClient(contentsOf: "\(Self.folder)/capture.pcap")
    let error = await #expect(throws: DataClientError.self) {
      try await withChannel(on: client, configuration: .init(credentials: triple)) { channel in
        _ = try await channel.invoke("/account/bind", ["iotToken": token])
        for try await _ in channel.messages(matching: "/thing/properties") { break }
      }
    }
    #expect(error?.code == .diverged)
    #expect(client.divergence?.expected?.contains("/account/unbind") == true)
    #expect(client.divergence?.actual == "DISCONNECT")
  }
}
