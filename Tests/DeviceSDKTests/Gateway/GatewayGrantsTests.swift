import Testing

@testable import DeviceSDK

/// What is granted, and whose it is.
@Suite struct GatewayGrantsTests {
  private static let lamp = Subdevice(known: "123", "lamp")
  private static let fan = Subdevice(known: "123", "fan")

  private static func grants() -> GatewayGrants {
    var grants = GatewayGrants()
    grants["b"] = GatewayGrant(owner: lamp, isForApplication: true)
    grants["a"] = GatewayGrant(owner: lamp, isForApplication: false)
    grants["c"] = GatewayGrant(owner: fan, isForApplication: true)
    grants["d"] = GatewayGrant(owner: nil, isForApplication: true)
    return grants
  }

  @Test func goesWithItsLine() {
    var grants = Self.grants()
    #expect(grants.filters(of: Self.lamp) == ["a", "b"])
    grants.removeAll(of: Self.lamp)
    #expect(Set(grants.filters) == ["c", "d"] && grants.filters(of: Self.lamp).isEmpty)
    #expect(grants["a"] == nil && grants["c"]?.owner == Self.fan)
    grants.removeAll()
    #expect(grants.isEmpty && grants.filters(of: Self.fan).isEmpty)
  }

  @Test func followsTheLastOwner() {
    var grants = Self.grants()
    grants["a"] = GatewayGrant(owner: Self.fan, isForApplication: true)
    grants["b"] = GatewayGrant(owner: nil, isForApplication: true)
    grants["c"]?.isForApplication = false
    #expect(grants.filters(of: Self.lamp).isEmpty && grants.filters(of: Self.fan) == ["a", "c"])
    grants["a"] = nil
    grants["nothing"] = nil
    #expect(grants.filters(of: Self.fan) == ["c"])
    grants.removeAll(of: Self.lamp)
    #expect(grants["b"] != nil)
  }
}
