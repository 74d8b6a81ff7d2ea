import Testing

@testable import DeviceSDK

/// Raw values, ranges, names and topics.
@Suite struct LinkValueTests {
  @Test func hasTheVendorsNumbers() {
    #expect(LinkState.allCases.map(\.rawValue) == Array(0...5))
    #expect(LinkOperation.allCases.map(\.rawValue) == Array(0...9))
    #expect(LinkReason.allCases.map(\.rawValue) == Array(0...37))
    #expect(LinkPresenceEvent.Kind.allCases.map(\.rawValue) == Array(1...7))
    #expect(LinkService.allCases.map(\.rawValue) == [1, 2])
    #expect(LinkChannelType.allCases.map(\.rawValue) == [1, 2])
    #expect(LinkSubscribeFeatures.beQuiet.rawValue == 16 && LinkJoinFeatures.beQuiet.rawValue == 8)
    #expect(
      LinkOperation(rawValue: 4) == .serverReject && LinkReason(rawValue: 27) == .sameUIDLogin)
  }

  // MARK: Configuration

  @Test(arguments: [
    (0, 5), (4, 5), (5, 5), (6, 6), (299, 299), (300, 300), (301, 300), (1_000_000, 300), (-1, 5),
  ])
  func clampsThePresenceTimeout(given: Int, effective: Int) {
    var configuration = LinkConfiguration(
      appID: "app", userID: "u", presenceTimeout: .seconds(given))
    #expect(configuration.presenceTimeout == .seconds(effective))
    configuration.presenceTimeout = .seconds(given)
    #expect(configuration.presenceTimeout == .seconds(effective))
  }

  @Test(arguments: [
    (0, 5), (4, 5), (5, 5), (6, 6), (1_799, 1_799), (1_800, 1_800), (1_801, 1_800), (-7, 5),
  ])
  func clampsTheHeartbeatInterval(given: Int, effective: Int) {
    var configuration = LinkConfiguration(
      appID: "app", userID: "u", heartbeatInterval: .seconds(given))
    #expect(configuration.heartbeatInterval == .seconds(effective))
    configuration.heartbeatInterval = .seconds(given)
    #expect(configuration.heartbeatInterval == .seconds(effective))
  }

  @Test(arguments: [
    (0, 128), (127, 128), (128, 128), (129, 129), (1_023, 1_023), (1_024, 1_024), (1_025, 1_024),
  ])
  func clampsTheSizeOfTheLogFile(given: Int, effective: Int) {
    var configuration = SampleLink.configuration()
    configuration.logFileSizeInKB = given
    #expect(configuration.logFileSizeInKB == effective)
  }

  @Test(arguments: [(0, 0), (-5, 0), (1, 15), (14, 15), (15, 15), (3_600, 3_600), (3_601, 3_600)])
  func clampsTheReconnectTimeout(given: Int, effective: Int) {
    let configuration = SampleLink.configuration { $0.reconnectTimeout = .seconds(given) }
    #expect(configuration.reconnectTimeout == .seconds(effective))
  }

  @Test func takesWholeSecondsOnly() {
    let configuration = SampleLink.configuration { $0.heartbeatInterval = .milliseconds(7_900) }
    #expect(configuration.heartbeatInterval == .seconds(7))
  }

  @Test func hasTheVendorsDefaults() {
    let configuration = LinkConfiguration(appID: "app", userID: "u")
    #expect(configuration.heartbeatInterval == .seconds(5))
    #expect(configuration.presenceTimeout == .seconds(300))
    #expect(configuration.reconnectTimeout == .zero && configuration.logFileSizeInKB == 1_024)
    #expect(configuration.sessionID.utf8.count == 16)
    #expect(configuration.sessionID != LinkConfiguration(appID: "app", userID: "u").sessionID)
  }

  @Test(arguments: [
    ("", "u", "s", LinkErrorCode.invalidAppID), ("app", "", "s", .invalidUserID),
    ("app", String(repeating: "u", count: 65), "s", .invalidUserID),
    ("app", "a/b", "s", .invalidUserID),
    ("app", "é", "s", .invalidUserID), ("app", "u", "", .invalidParameter),
  ])
  func refusesWrongIdentifiers(
    appID: String, userID: String, sessionID: String, code: LinkErrorCode
  ) {
    let configuration = LinkConfiguration(appID: appID, userID: userID, sessionID: sessionID)
    let error = #expect(throws: LinkError.self) { try MessageLinkMachine(configuration) }
    #expect(error?.code == code)
    #expect(throws: LinkError.self) { try StreamLinkMachine("room", configuration) }
  }

  @Test func allowsTheLongestNames() throws {
    let name = "aZ09 !#$%&()+-:;<=.>?@[]^_{}|~," + String(repeating: "x", count: 33)
    #expect(name.utf8.count == 64)
    try LinkConfiguration(appID: "app", userID: name).validate()
  }

  // MARK: Topics

  @Test(arguments: [
    ("plain", "plain"), ("a+b#c/d%e", "a%2Bb%23c%2Fd%25e"), ("", ""), ("ü\0", "ü%00"),
  ])
  func writesNamesAsLevels(name: String, level: String) {
    #expect(LinkTopics.encode(name) == level)
    #expect(LinkTopics.decode(Substring(level)) == name)
  }

  @Test(arguments: ["%", "%2", "%XY", "a%", "%FF"])
  func readsNoOtherLevels(level: String) {
    #expect(LinkTopics.decode(Substring(level)) == nil)
  }

  @Test func namesItsTopics() {
    let configuration = SampleLink.configuration { $0.userID = "a#1" }
    let message = LinkTopics(message: configuration)
    #expect(message.base == "link/app/message/a%231/s1")
    #expect(message.downFilter == "link/app/message/a%231/s1/down/+")
    #expect(LinkTopics(stream: "r+1", configuration).base == "link/app/stream/a%231/s1/r%2B1")
    #expect(
      LinkChannelTopics(.stream, "r", appID: "app").presence == "link/app/channel/stream/r/presence"
    )
  }

  /// An acknowledgement of a newer change has the older one in it, whichever comes first.
  @Test func anOlderAcknowledgementBringsNothingBack() throws {
    var states = TemporaryStates()
    let first = states.begin(["a": "1"], of: "c")
    let second = states.begin(["a": "1", "b": "2"], of: "c")
    let third = states.begin(["b": "2"], of: "c")
    states.end(second, of: "c", isAcknowledged: true)
    states.end(first, of: "c", isAcknowledged: true)
    #expect(states["c"] == ["a": "1", "b": "2"])
    states.end(third, of: "c", isAcknowledged: false)
    #expect(states["c"] == ["a": "1", "b": "2"])
    let fourth = states.begin(["d": "4"], of: "c")
    states.end(fourth, of: "c", isAcknowledged: true)
    #expect(states["c"] == ["d": "4"])
  }
}
