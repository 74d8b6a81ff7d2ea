import Testing

@testable import DeviceSDK

/// Filters, and whose they are.
@Suite struct GatewayFiltersTests {
  private static let lamp = GatewayOwner.line(Subdevice(known: "123", "lamp"))
  private static let fan = GatewayOwner.line(Subdevice(known: "123", "fan"))

  private static func filters() -> GatewayFilters {
    var filters = GatewayFilters()
    for (filter, owner) in [
      ("b", lamp), ("a", lamp), ("shared", lamp), ("shared", fan), ("c", fan), ("d", .gateway),
      ("shared", .gateway), ("shared", lamp),
    ] { filters.insert(filter, of: owner) }
    return filters
  }

  @Test func tellsWhatIsNobodysWhenAnOwnerGoes() {
    var filters = Self.filters()
    #expect(filters.filters(of: Self.lamp) == ["a", "b", "shared"])
    #expect(filters.owners(of: "shared") == [Self.lamp, Self.fan, .gateway])
    #expect(filters.disownAll(by: Self.lamp) == ["a", "b"])
    #expect(filters.filters(of: Self.lamp).isEmpty && filters.disownAll(by: Self.lamp) == [])
    #expect(filters.isOrphan("a") && filters.contains("a") && !filters.isOrphan("shared"))
    filters.remove("a")
    #expect(Set(filters.filters) == ["b", "shared", "c", "d"] && !filters.isOrphan("a"))
    filters.removeAll()
    #expect(filters.filters.isEmpty && filters.filters(of: Self.fan).isEmpty)
  }

  @Test func goesFromOwnerToOwner() {
    var filters = Self.filters()
    filters.disown("c", by: Self.fan)
    filters.disown("c", by: Self.lamp)
    filters.disown("nothing", by: Self.lamp)
    #expect(filters.isOrphan("c") && !filters.contains("nothing"))
    filters.insert("c", of: Self.lamp)
    filters.insert("e", of: nil)
    #expect(filters.filters(of: Self.lamp) == ["a", "b", "c", "shared"] && filters.isOrphan("e"))
    filters.remove("shared")
    #expect(filters.filters(of: Self.fan).isEmpty && filters.filters(of: .gateway) == ["d"])
  }
}
