/// A filter that the cloud has granted, or that it will be asked for again.
struct GatewayGrant: Sendable, Hashable {
  /// The sub-device whose line it belongs to; nil when it is the gateway's.
  let owner: Subdevice?
  /// Whether the application asked for it; otherwise only requests did.
  var isForApplication: Bool
}

/// What the cloud has granted, by filter and by the sub-device whose it is.
///
/// A gateway has thousands of lines with several filters each: what is of one line is found without
/// looking at those of all others.
struct GatewayGrants: Sendable {
  private var grants: [String: GatewayGrant] = [:]
  private var owned: [Subdevice: Set<String>] = [:]

  /// All filters, in no order.
  var filters: Dictionary<String, GatewayGrant>.Keys { grants.keys }

  /// Whether nothing is granted.
  var isEmpty: Bool { grants.isEmpty }

  /// What is granted by a filter; nil when nothing is.
  subscript(filter: String) -> GatewayGrant? {
    get { grants[filter] }
    set {
      let old = grants.updateValue(newValue, forKey: filter)
      guard old?.owner != newValue?.owner else { return }
      if let owner = old?.owner { forget(filter, of: owner) }
      if let owner = newValue?.owner { owned[owner, default: []].insert(filter) }
    }
  }

  private mutating func forget(_ filter: String, of owner: Subdevice) {
    owned[owner]?.remove(filter)
    if owned[owner]?.isEmpty == true { owned[owner] = nil }
  }

  /// The filters of a sub-device's line, in order.
  func filters(of owner: Subdevice) -> [String] { owned[owner]?.sorted() ?? [] }

  /// Forgets what is of a sub-device's line.
  mutating func removeAll(of owner: Subdevice) {
    for filter in owned.removeValue(forKey: owner) ?? [] { grants[filter] = nil }
  }

  /// Forgets everything.
  mutating func removeAll() {
    grants = [:]
    owned = [:]
  }
}

extension [String: GatewayGrant] {
  /// Puts a value in, or takes it out when it is nil.
  /// - Returns: The value before.
  fileprivate mutating func updateValue(
    _ value: GatewayGrant?, forKey key: String
  ) -> GatewayGrant? {
    guard let value else { return removeValue(forKey: key) }
    return updateValue(value, forKey: key)
  }
}
