import DeviceSDK
import LiveClient
import RepriseTesting
import Testing

/// The test of the first page of RepriseTesting.
@Suite struct BindTests {
  @Test(.replay("bind", on: { try MosquittoClient(url: "mqtt://localhost") }))
  func bindsTheAccount() async throws {
    try await withChannel(on: try TestClient.current, configuration: try .phone) { channel in
      try await channel.start()
      try await channel.bind(token: "t")
    }
  }
}

extension ChannelConfiguration {
  static var phone: ChannelConfiguration {
    get throws {
      try ChannelConfiguration(
        credentials: DeviceCredentials(
          productKey: "a1pk", deviceName: "phone1", deviceSecret: "secret-of-phone1"))
    }
  }
}
