import DataClient
import DeviceSDK
import Testing

@Suite struct ChannelTests {
  @Test func invokesAndDecodes() async throws {
    struct Token: Decodable, Equatable { let iotToken: String }
    let client = ScriptedClient(responder: SampleChannel.cloud)
    let token = try await withChannel(on: client, configuration: SampleChannel.configuration()) {
      channel in
      try await channel.start()
      #expect(channel.state == .connected)
      #expect(channel.clientID == "dev1&a1pk")
      return try await channel.invoke("/account/bind", ["iotToken": "t"], as: Token.self)
    }
    #expect(token == Token(iotToken: "t"))
    guard case .disconnect = client.performed.last?.kind else {
      Issue.record("the scope did not disconnect")
      return
    }
  }
}
