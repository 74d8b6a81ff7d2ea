import RepriseCore
import Testing

@testable import DeviceSDK

/// What a device connects with, and that its secret is not seen.
@Suite struct CredentialsTests {
  private let device = DeviceCredentials(
    productKey: "pk", deviceName: "device", deviceSecret: "secret")

  /// SDK-gateway-66.
  @Test func connectsAsTheVendorShows() throws {
    let identity = try device.identity(
      clientID: "12345", method: .hmacSHA1, timestamp: 789, secureMode: .tcp)
    #expect(identity.mqttClientID == "12345|securemode=3,signmethod=hmacsha1,timestamp=789|")
    #expect(identity.clientID == "device&pk")
    let password = String(decoding: identity.password ?? [], as: UTF8.self)
    #expect(DeviceSignature.areEqual(password, "FAFD82A3D602B37FB0FA8B7892F24A477F851A14"))
  }

  @Test func connectsAsDevicesInTheFieldDo() throws {
    let vector = try #require(SignatureTests.cases.first { $0.name == "A4" })
    let device = DeviceCredentials(
      productKey: "a1B2c3D4e5F", deviceName: "dev01", deviceSecret: vector.secret)
    let identity = try device.identity(
      timestamp: 2_524_608_000_000, secureMode: .tcp, extra: [("gw", "1"), ("ext", "0")])
    #expect(
      identity.mqttClientID.pairs == vector.value["mqtt"]?["clientId"]?.text?.pairs)
    #expect(identity.clientID == vector.value["mqtt"]?["username"]?.text)
    #expect(
      identity.password == vector.value["sign"]?["hmacsha256"]?.text.map { Array($0.utf8) })
  }

  @Test func knowsTheHostOfAProduct() {
    #expect(device.host() == "pk.iot-as-mqtt.cn-shanghai.aliyuncs.com")
    #expect(device.host(region: "eu-central-1") == "pk.iot-as-mqtt.eu-central-1.aliyuncs.com")
  }

  @Test func leavesOutATimestampThatItHasNot() throws {
    let identity = try device.identity(clientID: "c")
    #expect(identity.mqttClientID == "c|securemode=2,signmethod=hmacsha256|")
  }

  /// SDK-gateway-66.
  @Test(arguments: ["", String(repeating: "c", count: 65), "a|b"])
  func refusesAClientIDThatCannotBeOne(clientID: String) throws {
    let error = try #require(throws: SigningError.self) {
      try device.identity(clientID: clientID)
    }
    #expect(error.message.contains("clientID"))
  }

  @Test(arguments: [("", "1"), ("a=", "1"), ("a", "1,b=2"), ("a", "|")])
  func refusesPairsThatWouldBeOthers(key: String, value: String) {
    #expect(throws: SigningError.self) {
      try device.identity(extra: [(key, value)])
    }
  }

  @Test(arguments: ["", "a/b", "a&b", "+"])
  func refusesAnIdentityThatCannotStandInATopic(name: String) {
    var device = device
    device.deviceName = name
    #expect(throws: SigningError.self) { try device.identity(clientID: "c") }
  }

  /// SDK-gateway-65.
  @Test func showsNoSecret() throws {
    let secret = Secret("hidden-value")
    let device = DeviceCredentials(productKey: "pk", deviceName: "dn", deviceSecret: secret)
    var dumped = ""
    dump(device, to: &dumped)
    dump(DeviceSignature.Key.deviceSecret(secret), to: &dumped)
    let shown = [
      "\(secret)", String(reflecting: secret), "\(device)", String(reflecting: device), dumped,
      "\([secret])", "\(Optional(secret) as Any)",
    ]
    for text in shown { #expect(!text.contains("hidden")) }
    #expect("\(secret)" == "***" && secret.revealed == "hidden-value")
  }
}

extension String {
  /// The free text and the pairs of an MQTT client identifier, whose order is free.
  fileprivate var pairs: Set<Substring> { Set(split(whereSeparator: { "|,".contains($0) })) }
}
