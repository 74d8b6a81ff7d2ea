import Testing

@testable import reprise

@Suite struct GateAddressesTests {
  @Test func oneIsForAll() throws {
    #expect(GateAddresses.one[0] == "127.0.0.1" && GateAddresses.one[41] == "127.0.0.1")
    #expect(try GateAddresses(from: "127.0.0.1") == .one)
  }

  @Test func othersAreOneEach() throws {
    let gates = try GateAddresses(from: "127.83.0.254")
    #expect(
      [0, 1, 2, 3].map { gates[$0] } == [
        "127.83.0.254", "127.83.0.255", "127.83.1.0", "127.83.1.1",
      ])
    #expect(try GateAddresses(from: "127.255.255.255")[1] == "127.0.0.0")
  }

  @Test(arguments: ["", "127", "127.0.0", "127.0.0.1.2", "128.0.0.1", "127.0.0.256", "127..0.1"])
  func nothingElseIsTaken(_ text: String) {
    #expect(throws: UsageError.self) { try GateAddresses(from: text) }
  }
}
