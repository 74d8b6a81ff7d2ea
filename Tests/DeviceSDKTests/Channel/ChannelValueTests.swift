import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct ChannelValueTests {
  private static let wrong: [(String, String?, Int, Bool)] = [
    ("", nil, 0, false), ("1", "mqtt://host", 0, false), ("1", nil, -1, false),
    ("1", nil, 65_536, false), ("1", "host", 0, true),
  ]

  @Test(arguments: wrong)
  func refusesWrongConfigurations(key: String, server: String?, port: Int, selects: Bool) {
    let configuration = ChannelConfiguration(
      appKey: key, endpoint: .init(server: server, port: port, autoSelectsHost: selects))
    let error = #expect(throws: ChannelError.self) { try ChannelStateMachine(configuration) }
    #expect(error?.kind == .client)
  }

  private static let right: [(String?, Int, Bool)] = [
    (nil, 0, true), ("", 65_535, true), ("host", 1883, false),
  ]

  @Test(arguments: right)
  func takesRightConfigurations(server: String?, port: Int, selects: Bool) {
    let configuration = ChannelConfiguration(
      appKey: "1", endpoint: .init(server: server, port: port, autoSelectsHost: selects))
    #expect(throws: Never.self) { try configuration.validate() }
  }

  @Test func anEndpointSaysWhereALiveClientConnects() throws {
    var endpoint = ChannelConfiguration.Endpoint()
    #expect(
      try endpoint.address(defaultHost: "iot.example") == .init(url: "mqtts://iot.example:8883"))
    endpoint.certificatePath = "/ca.pem"
    endpoint.checksCertificate = false
    endpoint.port = 443
    endpoint.server = "own.example"
    #expect(
      try endpoint.address(defaultHost: "iot.example")
        == .init(
          url: "mqtts://own.example:443", authorityFile: "/ca.pem", verifiesCertificate: false))
    let daily = { (server: String, port: Int) in
      var endpoint = ChannelConfiguration.Endpoint(server: server, port: port)
      endpoint.environment = .daily
      return try endpoint.address().url
    }
    #expect(try daily("10.0.0.1", 0) == "mqtt://10.0.0.1:1883")
    #expect(try daily("::1", 1_884) == "mqtt://[::1]:1884")
  }

  @Test func anEndpointWithoutAHostAsksOrSaysSo() throws {
    let bare = ChannelConfiguration.Endpoint()
    #expect(throws: ChannelError.self) { try bare.address() }
    let asking = ChannelConfiguration.Endpoint(
      autoSelectsHost: true, autoSelectURL: "https://select.example")
    let error = #expect(throws: ChannelError.self) { try asking.address(defaultHost: "x") }
    #expect(error?.kind == .client)
    let address = try asking.address(defaultHost: "x") { url in
      #expect(url == "https://select.example")
      return "near.example"
    }
    #expect(address.url == "mqtts://near.example:8883")
    #expect(throws: CancellationError.self) {
      try asking.address { _ in throw CancellationError() }
    }
  }

  /// SDK-channel-2.
  @Test(arguments: [(0, false), (29, false), (30, true), (1_200, true), (1_201, false)])
  func takesAKeepAliveThatTheCloudTakes(seconds: UInt16, isRight: Bool) {
    var configuration = ChannelConfiguration(appKey: "1")
    configuration.keepAlive = seconds
    do throws(ChannelError) {
      _ = try ChannelStateMachine(configuration)
      #expect(isRight)
    } catch {
      #expect(!isRight && error.kind == .client)
      #expect(error.message == "keepAlive \(seconds) is not in 30…1200 seconds")
    }
  }

  @Test(arguments: ["", "a/b", "a+", "#", "a&b", "a\0"])
  func refusesIdentitiesThatCannotStandInTopics(part: String) {
    #expect(throws: ChannelError.self) {
      try ChannelIdentity(productKey: part, deviceName: "d")
    }
    #expect(throws: ChannelError.self) {
      try ChannelIdentity(productKey: "p", deviceName: part)
    }
  }

  @Test func showsNoSecrets() throws {
    let identity = try ChannelIdentity(
      productKey: "p", deviceName: "d", password: Array("s3cret".utf8))
    let configuration = ChannelConfiguration(
      appKey: "1", authCode: "s3cret", identity: identity)
    var text = "\(identity) \(configuration)" + String(reflecting: configuration)
    dump(identity, to: &text)
    dump(configuration, to: &text)
    #expect(!text.contains("s3cret") && !text.contains("115") && text.contains("d&p"))
  }

  @Test func keepsTheNumbersOfOlderSDKs() {
    #expect(ChannelState.allCases.map(\.rawValue) == [1, 2, 3])
    #expect(Set(ChannelError.Kind.allCases.map(\.rawValue)) == [4201, 4101, 4102, 4103, 4001])
  }

  @Test(arguments: [
    #"{"id":"1","version":"1.0","request":{"clientId":"d&p"},"params":{"iotToken":"t"}}"#,
    #"{"id":1,"system":{"version":"1.0","time":"15"},"request":{"clientId":"d&p"},"params":{"iotToken":"t"}}"#,
  ])
  func readsTheIdentifierOfARequest(text: String) throws {
    let envelope = try #require(ChannelEnvelope(parsing: Array(text.utf8)))
    #expect(envelope.id == "1" && envelope.code == nil)
    #expect(envelope.message == nil && envelope.data == nil)
  }

  @Test(arguments: ["", "1", "{}", "[]", #"{"id":null}"#, #"{"id":{}}"#, #"{"id":"1""#])
  func readsNoEnvelopeWhereThereIsNone(text: String) {
    #expect(ChannelEnvelope(parsing: Array(text.utf8)) == nil)
  }

  @Test func takesTheLastOfTwoEqualKeysAndLargeIds() throws {
    let text = #"{"id":"1","id":4294967295,"code":"6205","msg":"m","data":""}"#
    let envelope = try #require(ChannelEnvelope(parsing: Array(text.utf8)))
    #expect(envelope.id == "4294967295" && envelope.code == 6205)
    #expect(envelope.message == "m" && envelope.data == "")
  }

  @Test func writesTheFirstForm() {
    let bytes = ChannelEnvelope.request(id: "7", clientID: "d&p", params: ["a": [1, nil, true]])
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"id":"7","version":"1.0","request":{"clientId":"d&p"},"params":{"a":[1,null,true]}}"#)
  }

  private func message(_ payload: String) -> ChannelMessage {
    ChannelMessage(
      Message(topic: "/sys/p/d/app/down/x", payload: Array(payload.utf8)), prefixLength: 17,
      time: ScriptedClient.start)
  }

  @Test func givesParametersOrTheWholePayload() throws {
    struct Value: Decodable, Equatable { let v: Int }
    let notification = message(#"{"method":"m","params":{"v":1}}"#)
    #expect(notification.topic == "/x" && notification.params == ["v": 1])
    #expect(try notification.decodeParams(as: Value.self) == Value(v: 1))
    #expect(message(#"{"v":2}"#).params == ["v": 2])
    #expect(message("hello").params == nil && message("hello").text == "hello")
    #expect(message("").json == nil)
    let error = #expect(throws: ChannelError.self) {
      try message("hello").decodeParams(as: Value.self)
    }
    #expect(error?.kind == .gateway)
  }

  @Test func surfacesPayloadsThatAreNoText() {
    let message = ChannelMessage(
      Message(topic: "/x", payload: [0xFF, 0x00]), prefixLength: 0, time: ScriptedClient.start)
    #expect(message.text == nil && message.json == nil && message.payload == [0xFF, 0x00])
  }

  @Test func keepsDelaysInBounds() {
    let rule = BackOff(first: .seconds(3), longest: .seconds(10), jitterPercent: 0)
    #expect((0..<4).map { rule.delay(attempt: $0) } == [3, 6, 10, 10].map { .seconds($0) })
    #expect(rule.delay(attempt: -1) == .seconds(3) && rule.delay(attempt: .max) == .seconds(10))
    var random = SeededGenerator(seed: 1)
    let huge = BackOff(
      first: .seconds(Int64.max), longest: .seconds(Int64.max), jitterPercent: 255)
    #expect(huge.delay(attempt: 9, random: &random) >= .seconds(Int64.max))
    #expect(Timestamp(nanoseconds: 5).advanced(by: .seconds(Int64.max)).nanoseconds == .max)
  }

  @Test func ordersDeadlinesWhateverTheirOrder() {
    var queue = DeadlineQueue()
    let times: [Int64] = (0..<500).map { $0 * 7_919 % 503 }
    for (index, time) in times.enumerated() {
      queue.set(Timestamp(nanoseconds: time), for: CallID(rawValue: UInt64(index)))
    }
    for index in stride(from: 0, to: 500, by: 3) {
      queue.set(nil, for: CallID(rawValue: UInt64(index)))
    }
    queue.set(Timestamp(nanoseconds: 1_000), for: CallID(rawValue: 1))
    var popped: [Int64] = []
    while let call = queue.popExpired(at: Timestamp(nanoseconds: 600)) {
      popped.append(times[Int(call.rawValue)])
    }
    let expected = times.indices.filter { $0 % 3 != 0 && $0 != 1 }.map { times[$0] }.sorted()
    #expect(popped == expected)
    #expect(queue.first == Timestamp(nanoseconds: 1_000))
  }
}
