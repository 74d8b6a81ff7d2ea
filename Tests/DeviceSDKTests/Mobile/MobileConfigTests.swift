import Testing

@testable import DeviceSDK

@Suite struct MobileConfigTests {
  @Test func namesMeanTheSame() throws {
    var config = MobileConnectConfig(appkey: "1234", securityGuardAuthcode: "114d")
    config.channelHost = "host.example:1883"
    config.isCheckChannelRootCrt = false
    config.channelRootCrtFile = "/ca.pem"
    let configuration = try config.configuration()
    #expect(configuration.appKey == "1234")
    #expect(configuration.authCode == "114d")
    #expect(configuration.endpoint.server == "host.example")
    #expect(configuration.endpoint.port == 1_883)
    #expect(!configuration.endpoint.checksCertificate)
    #expect(configuration.endpoint.certificatePath == "/ca.pem")
    #expect(!"\(config)".contains("114d"))
    #expect(!config.customMirror.children.contains { "\($0.value)".contains("114d") })
  }

  @Test func theHostIsSelectedOnlyWithoutOne() throws {
    var config = MobileConnectConfig(appkey: "1234")
    config.autoSelectChannelHost = true
    config.serverUrlForAutoSelectChannel = "https://select.example"
    config.channelHost = ""
    let endpoint = try config.configuration().endpoint
    #expect(endpoint.autoSelectsHost)
    #expect(endpoint.autoSelectURL == "https://select.example")
    #expect(endpoint.server == nil)
    config.channelHost = "host.example"
    #expect(throws: ChannelError.self) { try config.configuration() }
  }

  @Test(arguments: ["ssl://host", "host:", "host:0", "host:65536", "host:x", ":1883"])
  func wrongHostsAreRefused(host: String) {
    var config = MobileConnectConfig(appkey: "1234")
    config.channelHost = host
    let error = #expect(throws: ChannelError.self) { try config.configuration() }
    #expect(error?.kind == .client)
    #expect(error?.message.hasPrefix("channelHost is ") == true)
  }

  @Test func anAppKeyIsNeeded() {
    #expect(throws: ChannelError.self) { try MobileConnectConfig(appkey: "").configuration() }
  }

  @Test(arguments: [
    (0, ChannelEnvironment.daily), (1, .prerelease), (2, .release), (3, nil), (-1, nil),
    (.max, nil),
  ])
  func serversCountEnvironmentsFromZero(number: Int, environment: ChannelEnvironment?) {
    #expect(ChannelEnvironment(serverEnvironment: number) == environment)
  }

  @Test func environmentsHaveTheirNumbers() {
    #expect(ChannelEnvironment.allCases.map(\.rawValue) == [1, 2, 3])
    var configuration = ChannelConfiguration(appKey: "1234")
    #expect(configuration.endpoint.environment == .release)
    configuration.endpoint.environment = .daily
    #expect(ChannelConfiguration(appKey: "1234").endpoint.environment == .release)
  }
}
