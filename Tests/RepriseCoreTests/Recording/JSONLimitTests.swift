import Testing

@testable import RepriseCore

@Suite struct JSONLimitTests {
  /// Arrays, objects, their elements and members count, keys do not.
  @Test(arguments: ["[0,1,2,3]", #"{"a":0,"b":{"c":[null]}}"#, #"[[],{},"",true]"#])
  func countsEveryValue(text: String) throws {
    let bytes = Array(text.utf8)
    #expect(throws: Never.self) { try JSONParser.parse(bytes.span.bytes, mostValues: 5) }
    #expect {
      _ = try JSONParser.parse(bytes.span.bytes, mostValues: 4)
    } throws: { error in
      (error as? JSONSyntaxError)?.message == "more than 4 values"
    }
  }

  /// The packet with the most values that a line has: filters of no bytes, each with five members.
  @Test func holdsTheLargestList() {
    let filters = EventJSONWriter.largestList / 3
    #expect(filters * 6 + 100 < JSONParser.maximumValues)
  }
}
