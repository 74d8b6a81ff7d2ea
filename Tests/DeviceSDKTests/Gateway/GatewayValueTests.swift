import RepriseCore
import Testing

@testable import DeviceSDK

/// The values that a gateway is made of.
@Suite struct GatewayValueTests {
  private let dictionary = [
    "clientId": "123", "productKey": "123", "deviceName": "test", "sign": "ab12",
    "signMethod": "sha256",
  ]

  @Test func readsWhatASubdeviceSays() throws {
    let info = try SubdeviceInfo(dictionary)
    #expect(info.subdevice == GatewayBench.sub && info.timestamp == nil)
    let more = try SubdeviceInfo(dictionary.merging(["timestamp": "789", "x": "y"]) { $1 })
    #expect(more.timestamp == "789")
    #expect(more.members(methodKey: "m").map(\.key).contains("timestamp"))
    #expect(!info.members(methodKey: "m").map(\.key).contains("timestamp"))
  }

  /// SDK-gateway-8.
  @Test(arguments: ["clientId", "productKey", "deviceName", "sign", "signMethod"])
  func refusesASubdeviceThatLeavesSomethingOut(key: String) throws {
    for value in [nil, ""] as [String?] {
      var less = dictionary
      less[key] = value
      let error = try #require(throws: GatewayError.self) { try SubdeviceInfo(less) }
      #expect(error.kind == .subdevice && error.message.contains(key))
    }
  }

  @Test func refusesASubdeviceWhoseNameCannotStandInATopic() throws {
    for (key, value) in [("deviceName", "a/b"), ("productKey", "#"), ("deviceName", "a+")] {
      let error = try #require(throws: GatewayError.self) {
        try SubdeviceInfo(dictionary.merging([key: value]) { $1 })
      }
      #expect(error.kind == .subdevice && error.message.contains(key))
    }
  }

  /// SDK-gateway-65.
  @Test func showsNoSignature() throws {
    let info = try SubdeviceInfo(dictionary)
    var dumped = ""
    dump(info, to: &dumped)
    for text in ["\(info)", String(reflecting: info), dumped] { #expect(!text.contains("ab12")) }
  }

  @Test func takesTopicsApart() {
    let cases: [(String, String, GatewayTopic.Kind?)] = [
      ("/sys/123/test/thing/event/property/post", "123/test", .thing("event/property/post")),
      ("/sys/123/test/thing/disable", "123/test", .thing("disable")),
      ("/sys/123/test/app/down/x", "123/test", .other), ("/sys/123/test", "123/test", .other),
      ("/sys/123/test/thing", "123/test", .other),
      ("/ext/error/123/test", "123/test", .sessionError),
      ("/ext/error/123/test/x", "123/test", .other),
      ("/ext/session/123/test/combine/login", "123/test", .other),
      ("/ext/other/123/test", "", nil), ("/sys/123", "", nil), ("/sys//test/thing/x", "", nil),
      ("sys/123/test/thing/x", "", nil), ("", "", nil), ("/", "", nil), ("/ext/error/123", "", nil),
      ("/x/123/test/thing/y", "", nil),
    ]
    for (topic, device, kind) in cases {
      let parts = GatewayTopic(topic)
      #expect(parts?.kind == kind, "\(topic)")
      #expect((parts?.device.description ?? "") == device, "\(topic)")
    }
  }

  /// SDK-gateway-35.
  @Test func makesTopicsAsTheCloudHasThem() {
    let topics = GatewayTopics(gateway: Subdevice(known: "a1gw", "phone"))
    let sys = "/sys/a1gw/phone/thing/"
    let session = "/ext/session/a1gw/phone/combine/"
    #expect(
      [
        topics.addTopology, topics.deleteTopology, topics.getTopology, topics.found,
        topics.register, topics.unregister, topics.packPost, topics.addRequest,
        topics.topologyChange,
      ]
        == [
          "topo/add", "topo/delete", "topo/get", "list/found", "sub/register", "sub/unregister",
          "event/property/pack/post", "topo/add/notify", "topo/change",
        ].map { sys + $0 })
    #expect(
      [topics.login, topics.logout, topics.batchLogin, topics.batchLogout]
        == ["login", "logout", "batch_login", "batch_logout"].map { session + $0 })
    #expect(topics.sessionError == "/ext/error/a1gw/phone")
  }

  /// SDK-gateway-35.
  @Test(arguments: [
    ("/sys/1/2/thing/event/property/post", "thing.event.property.post"),
    ("/sys/1/2/thing/topo/add", "thing.topo.add"), ("/ext/session/1/2/combine/login", nil),
    ("/1/2/user/x", nil),
  ])
  func findsTheMethodOfATopic(topic: String, method: String?) {
    #expect(GatewayEnvelope.method(of: topic) == method)
  }

  // MARK: Codes

  /// The codes of each operation, as the description of the system lists them.
  private static let sets: [(CloudCode.Place, Set<Int>)] = [
    (.register, [460, 5005, 5244, 500, 6288, 6100, 6619, 6292, 6203]),
    (.addTopology, [460, 429, 6402, 6100, 401, 6204, 6400, 6203]),
    (.deleteTopology, [460, 429, 6100, 6401, 6203]), (.getTopology, [460, 429, 500, 6203]),
    (.found, [460, 500, 6250, 6280, 6203]),
    (.login, [460, 429, 428, 6100, 521, 522, 6204, 6287, 6401, 500]), (.logout, [460, 520, 500]),
    (.session, [427, 521, 522, 6401, 520]),
  ]

  /// SDK-gateway-54.
  @Test(arguments: sets)
  func knowsTheCodesOfEachOperation(place: CloudCode.Place, codes: Set<Int>) {
    let known = CloudCode.all.filter { $0.places.contains(place) && $0.code != 200 }
    #expect(Set(known.map(\.code)) == codes)
  }

  @Test func knowsEachCodeOnceAndWhatToDo() {
    #expect(Set(CloudCode.all.map(\.code)).count == CloudCode.all.count)
    #expect(CloudCode.all.allSatisfy { !$0.meaning.isEmpty })
    #expect(CloudCode.known(429).remedy == .slowDown)
    #expect(CloudCode.all.filter { $0.remedy == .retry }.map(\.code) == [500, 6760])
    for code in [460, 6287, 401, 6402, 6280, 6100, 521, 522, 12_345] {
      #expect(CloudCode.known(code).remedy == .fail)
    }
    #expect(
      CloudCode.all.filter { $0.lineEvent == .sessionLost }.map(\.code) == [427, 520, 521, 522])
    #expect(CloudCode.all.filter { $0.lineEvent == .topologyLost }.map(\.code) == [6401])
    #expect(CloudCode.all.filter { $0.overlay == .disabled }.map(\.code) == [522, 6204])
  }

  /// SDK-gateway-5.
  @Test func saysWhatACodeMeans() {
    let error = CloudCode.error(6_401, "topo relation not exist")
    #expect(error.kind == .noTopology && error.cloudCode == 6_401)
    #expect(error.message.contains("add its topology") && error.message.contains("not exist"))
    #expect("\(error)".hasPrefix("4302/6401: "))
    #expect(
      error.underlying as? CloudError == CloudError(code: 6_401, message: "topo relation not exist")
    )
    #expect(CloudCode.error(520, "").kind == .business)
    #expect(
      GatewayError.Kind.allCases.map(\.rawValue) == [4301, 4302, 4201, 4101, 4102, 4103, 4001])
  }

  @Test func knowsTheStatesOfTheSeed() {
    #expect(TopologyChange.created.rawValue == 0 && TopologyChange.deleted.rawValue == 1)
    #expect(TopologyChange.enabled.rawValue == 2 && TopologyChange.disabled.rawValue == 8)
  }
}
