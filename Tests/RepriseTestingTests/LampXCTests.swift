import RepriseTesting
import XCTest

/// A lamp's tests as users of XCTest write them.
final class LampXCTests: XCTestCase {
  func testTakesOrders() async throws {
    try await replaying("lamp") { client in
      var lamp = Lamp(client)
      let heard = try await lamp.obey(["on", "off"])
      XCTAssertEqual(heard, ["on", "off"])
    }
  }
}
