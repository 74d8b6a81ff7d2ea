/// Whose a subscription is.
enum GatewayOwner: Sendable, Hashable {
  case gateway
  case line(Subdevice)

  /// The line of a sub-device; without one the gateway itself.
  init(_ subdevice: Subdevice?) { self = subdevice.map { .line($0) } ?? .gateway }
}

/// Filters, each with all whose it is.
///
/// A gateway has thousands of lines with several filters each: what is of one line, and whose a filter is,
/// are found without looking at all others.
struct GatewayFilters: Sendable {
  private var owners: [String: Set<GatewayOwner>] = [:]
  private var owned: [GatewayOwner: Set<String>] = [:]

  /// All filters, in no order.
  var filters: Dictionary<String, Set<GatewayOwner>>.Keys { owners.keys }

  /// Whether a filter is there, be it nobody's.
  func contains(_ filter: String) -> Bool { owners[filter] != nil }

  /// Whether a filter is there that is nobody's any more.
  func isOrphan(_ filter: String) -> Bool { owners[filter]?.isEmpty == true }

  /// Whose a filter is.
  func owners(of filter: String) -> Set<GatewayOwner> { owners[filter] ?? [] }

  /// The filters of an owner, in order.
  func filters(of owner: GatewayOwner) -> [String] { owned[owner]?.sorted() ?? [] }

  /// Puts a filter in, or adds to those whose it is; without an owner it may be nobody's.
  mutating func insert(_ filter: String, of owner: GatewayOwner?) {
    owners[filter, default: []].formUnion(owner.map { [$0] } ?? [])
    if let owner { owned[owner, default: []].insert(filter) }
  }

  /// Takes a filter out, whosever it is.
  mutating func remove(_ filter: String) {
    for owner in owners.removeValue(forKey: filter) ?? [] { forget(filter, of: owner) }
  }

  /// Takes a filter from one owner; it stays, be it as nobody's.
  mutating func disown(_ filter: String, by owner: GatewayOwner) {
    guard owners[filter]?.remove(owner) != nil else { return }
    forget(filter, of: owner)
  }

  /// Takes all filters from one owner; they stay, be it as nobody's.
  /// - Returns: Those that are nobody's now, in order.
  mutating func disownAll(by owner: GatewayOwner) -> [String] {
    let filters = filters(of: owner)
    for filter in filters { disown(filter, by: owner) }
    return filters.filter { isOrphan($0) }
  }

  private mutating func forget(_ filter: String, of owner: GatewayOwner) {
    owned[owner]?.remove(filter)
    if owned[owner]?.isEmpty == true { owned[owner] = nil }
  }

  /// Forgets everything.
  mutating func removeAll() {
    owners = [:]
    owned = [:]
  }
}
