import RepriseCore
import Testing

/// Values of JSON as a program writes and reads them.
@Suite struct JSONValueTests {
  private let value: JSONValue = [
    "level": 0.5, "count": -3, "isOn": true, "name": "a \"b\"", "none": nil,
    "list": [1, 2.25, ["deep": [false]]],
  ]

  @Test func isWrittenAsLiterals() {
    #expect(
      "\(value)"
        == #"{"level":0.5,"count":-3,"isOn":true,"name":"a \"b\"","none":null,"list":[1,2.25,{"deep":[false]}]}"#
    )
  }

  @Test func isReadByKeyAndPlace() {
    #expect(value["level"]?.double == 0.5)
    #expect(value["count"]?.double == -3 && value["count"]?.integer == -3)
    #expect(value["level"]?.integer == nil)
    #expect(value["isOn"]?.bool == true)
    #expect(value["name"]?.bool == nil && value["name"]?.double == nil)
    #expect(value["list"]?[1]?.double == 2.25)
    #expect(value["list"]?[2]?["deep"]?[0]?.bool == false)
    #expect(value["list"]?[3] == nil && value["list"]?[-1] == nil && value["level"]?[0] == nil)
    #expect(value["list"]?.elements?.count == 3)
  }

  @Test(
    arguments: [("1e400", nil), ("-0", -0.0), ("1e2", 100), ("0.1", 0.1)] as [(String, Double?)])
  func numbersKeepTheirDigits(digits: String, double: Double?) throws {
    let number = try JSONValue.read(Array(digits.utf8))
    #expect(number.double == double)
    #expect("\(number)" == digits)
  }

  @Test func whatIsNoNumberIsNull() {
    #expect(Double.infinity.json == .null && Double.nan.json == .null)
    #expect(1e21.json.double == 1e21)
    #expect(JSONValue(parsing: Array("\(1e21.json)".utf8))?.double == 1e21)
  }
}
