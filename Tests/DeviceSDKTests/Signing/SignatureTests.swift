import Foundation
import RepriseCore
import Testing

@testable import DeviceSDK

/// Signatures, against vectors that were computed by other means.
@Suite struct SignatureTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let value: JSONValue
    var testDescription: String { name }

    var params: [String: JSONValue] {
      guard case .object(let members)? = value["params"] else { return [:] }
      return Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }
    var secret: Secret { Secret(value["deviceSecret"]?.text ?? "") }
  }

  static func vectors() throws -> JSONValue { try ConformanceFile.json("sign-vectors.json") }

  static let cases: [Vector] = {
    guard case .array(let values)? = try? vectors()["cases"] else { return [] }
    return values.map { Vector(name: $0["id"]?.text ?? "-", value: $0) }
  }()

  @Test func hasVectors() { #expect(Self.cases.count == 7) }

  /// SDK-gateway-59, 60, 61.
  @Test(arguments: cases, SignMethod.allCases)
  func signsAsTheVectorSays(vector: Vector, method: SignMethod) throws {
    #expect(DeviceSignature.content(of: vector.params) == vector.value["content"]?.text)
    let expected =
      method == .sha256 ? vector.value["sha256"] : vector.value["sign"]?[method.rawValue]
    let sign = try DeviceSignature.sign(
      vector.params, method: method, key: .deviceSecret(vector.secret))
    #expect(sign == expected?.text)
  }

  /// SDK-gateway-60.
  @Test(
    arguments: [SignMethod.hmacMD5, .hmacSHA1, .hmacSHA256],
    [
      "dynamicRegister", "legacyLoginWithCleanSession", "hmacSelfTest",
    ])
  func computesHMAC(method: SignMethod, name: String) throws {
    let vector = try #require(try Self.vectors()[name])
    let content = try #require((vector["content"] ?? vector["msg"])?.text)
    let key = try #require(
      (vector["productSecret"] ?? vector["deviceSecret"] ?? vector["key"])?.text)
    let bytes = try #require(Digest.hmac(method, key: Array(key.utf8), Array(content.utf8)))
    #expect(Digest.hex(bytes) == vector["sign"]?[method.rawValue]?.text)
  }

  @Test(arguments: [SignMethod.hmacMD5, .hmacSHA1, .hmacSHA256])
  func signsTheRegistrationOfADevice(method: SignMethod) throws {
    let vector = try #require(try Self.vectors()["dynamicRegister"])
    let registration = try DeviceRegistration(
      productKey: "1234556554", deviceName: "deviceName1234", productSecret: "productsecret",
      random: "123", method: method)
    #expect(
      registration.parameters == [
        "productKey": "1234556554", "deviceName": "deviceName1234", "random": "123",
        "sign": vector["sign"]?[method.rawValue]?.text ?? "-", "signMethod": method.rawValue,
      ])
    #expect(registration.method == .post && registration.path == "/auth/register/device")
  }

  @Test func refusesARegistrationThatCannotBeSigned() {
    for (method, random) in [(SignMethod.sha256, "123"), (.hmacMD5, "")] {
      let error = #expect(throws: SigningError.self) {
        try DeviceRegistration(
          productKey: "1", deviceName: "d", productSecret: "s", random: random, method: method)
      }
      #expect(error?.message.contains("HMAC") == true)
    }
  }

  @Test func readsTheAnswerToARegistration() throws {
    let json =
      #"{"code":200,"data":{"productKey":"1","deviceName":"d","deviceSecret":"hidden"}}"#
    let answer = try JSONDecoder().decode(DeviceRegistration.Response.self, from: Data(json.utf8))
    #expect(answer.data?.credentials.deviceSecret == "hidden")
    var dumped = ""
    dump(answer, to: &dumped)
    #expect(!dumped.contains("hidden") && !"\(answer)".contains("hidden"))
    let refused = try JSONDecoder().decode(
      DeviceRegistration.Response.self, from: Data(#"{"code":6288,"message":"off"}"#.utf8))
    #expect(refused.code == 6_288 && refused.data == nil)
  }

  /// SDK-gateway-62.
  @Test(arguments: ["breezeDeviceSecret", "breezeProductSecret"])
  func signsAsBluetoothDevicesDo(name: String) throws {
    let vector = try #require(try Self.vectors()[name])
    let params: [String: JSONValue] = [
      "clientId": "0000a1b2", "deviceName": "AABBCCDDEEFF", "productKey": "a1B2c3D4e5F",
    ]
    let key: DeviceSignature.Key =
      name == "breezeDeviceSecret"
      ? .deviceSecret("0123456789abcdef0123456789abcdef") : .productSecret("ProductSecret123")
    let sign = try DeviceSignature.sign(params, method: .sha256, key: key)
    #expect(sign == vector["sha256"]?.text)
  }

  // MARK: What does and what does not change a signature

  private func sign(_ params: [String: JSONValue], _ method: SignMethod) throws -> String {
    try DeviceSignature.sign(params, method: method, key: .deviceSecret("secret"))
  }

  private let params: [String: JSONValue] = [
    "productKey": "123", "deviceName": "test", "clientId": "123",
  ]

  /// SDK-gateway-59.
  @Test(arguments: SignMethod.allCases)
  func ignoresWhatIsNotSigned(method: SignMethod) throws {
    let expected = try sign(params, method)
    for name in ["sign", "signMethod", "signmethod", "cleanSession"] {
      var more = params
      more[name] = "anything"
      #expect(try sign(more, method) == expected)
    }
  }

  /// SDK-gateway-59.
  @Test(arguments: SignMethod.allCases)
  func signsAllTheRest(method: SignMethod) throws {
    let expected = try sign(params, method)
    for (name, value) in [
      ("deviceName", "Test"), ("timestamp", "1524448722000"), ("clientId", "124"), ("x", ""),
    ] {
      var other = params
      other[name] = .string(value)
      #expect(try sign(other, method) != expected)
    }
    #expect(
      try DeviceSignature.sign(params, method: method, key: .deviceSecret("Secret")) != expected)
  }

  /// SDK-gateway-63.
  @Test func signsNumbersAsTheirJSON() throws {
    #expect(
      try sign(params.merging(["n": 15, "b": true]) { $1 }, .hmacSHA1)
        == sign(params.merging(["n": "15", "b": "true"]) { $1 }, .hmacSHA1))
  }

  /// SDK-gateway-64.
  @Test func comparesWithoutTheCaseOfDigits() {
    #expect(DeviceSignature.areEqual("AB12", "ab12"))
    #expect(!DeviceSignature.areEqual("ab12", "ab13"))
  }

  /// SDK-gateway-60.
  @Test func findsMethodsByNameInAnyCase() {
    #expect(SignMethod(named: "hmacSha256") == .hmacSHA256)
    #expect(SignMethod(named: "HMACMD5") == .hmacMD5)
    #expect(SignMethod(named: "sha1") == nil)
  }

  /// SDK-gateway-63.
  @Test(arguments: ["productKey", "deviceName"])
  func refusesToSignWithoutAnIdentity(name: String) throws {
    for value in [nil, ""] as [JSONValue?] {
      var less = params
      less[name] = value
      let error = try #require(throws: SigningError.self) { try sign(less, .sha256) }
      #expect(error.message.contains(name))
    }
  }

  @Test(arguments: SignMethod.allCases)
  func refusesAnEmptySecret(method: SignMethod) throws {
    let error = try #require(throws: SigningError.self) {
      try DeviceSignature.sign(params, method: method, key: .deviceSecret(""))
    }
    #expect(error.message.contains("is empty"))
  }
}
