/// The two endpoints of a connection in a fixed order, whoever sent.
struct FlowKey: Hashable {
  let lower: Endpoint
  let upper: Endpoint
  /// The number of the network, where several have the same endpoints; else 0.
  var network: UInt32 = 0

  /// Creates the key of a segment, and tells whether its source is the lower endpoint.
  @inline(__always)
  static func of(_ source: Endpoint, _ destination: Endpoint) -> (key: FlowKey, isFromLower: Bool) {
    let isFromLower = source.precedes(destination)
    let key =
      isFromLower
      ? FlowKey(lower: source, upper: destination) : FlowKey(lower: destination, upper: source)
    return (key, isFromLower)
  }

  /// Whether both ends are on one host, between which no network is.
  var isOnOneHost: Bool { lower.isOnOneHost(with: upper) }

  /// Compares without a branch for each field: most keys that are compared are equal.
  @inline(__always)
  static func == (lhs: FlowKey, rhs: FlowKey) -> Bool {
    let addresses =
      lhs.lower.address.difference(from: rhs.lower.address)
      | lhs.upper.address.difference(from: rhs.upper.address)
    let ports = (lhs.lower.port ^ rhs.lower.port) | (lhs.upper.port ^ rhs.upper.port)
    return addresses | UInt64(ports) | UInt64(lhs.network ^ rhs.network) == 0
  }

  /// A hash that is cheap and, with a seed of the process, not to be foreseen by who sends packets.
  @inline(__always)
  func hash(seed: UInt64) -> UInt64 {
    var hash = seed
    hash = Self.mix(hash ^ lower.address.low)
    hash = Self.mix(hash ^ upper.address.low)
    if !lower.address.isIPv4 || !upper.address.isIPv4 {
      hash = Self.mix(hash ^ lower.address.high)
      hash = Self.mix(hash ^ upper.address.high)
    }
    let rest = UInt64(network) << 32 | UInt64(lower.port) << 16 | UInt64(upper.port)
    return Self.mix(hash ^ rest)
  }

  @inline(__always)
  static func mix(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

extension Endpoint {
  /// Whether both ends are on one host, between which no network is.
  package func isOnOneHost(with other: Endpoint) -> Bool {
    address == other.address || address.isLoopback && other.address.isLoopback
  }
}

extension IPAddress {
  /// 0 for the same address.
  @inline(__always)
  fileprivate func difference(from other: IPAddress) -> UInt64 {
    (high ^ other.high) | (low ^ other.low) | (isIPv4 == other.isIPv4 ? 0 : 1)
  }
}

extension Endpoint {
  @inline(__always)
  fileprivate func precedes(_ other: Endpoint) -> Bool {
    if address.low != other.address.low { return address.low < other.address.low }
    if address.high != other.address.high { return address.high < other.address.high }
    return port < other.port
  }
}

/// What a ``FlowTable`` holds.
protocol KeyedFlow: AnyObject {
  /// The endpoints, by which it is found.
  var key: FlowKey { get }
}

/// Finds the flow of a segment: a hash table with open addressing, looked up once per segment.
///
/// With thousands of connections whose segments come in turns, a look-up takes as long as memory does: so a slot tells
/// most flows apart by itself, and the key stands in the flow, beside what is asked for next.
struct FlowTable<Flow: KeyedFlow> {
  private struct Slot {
    /// The index of the flow, or -1.
    var index: Int32
    /// A part of the hash that does not choose the slot.
    var tag: UInt32

    static var free: Slot { Slot(index: -1, tag: 0) }
  }

  private var flows: [Flow] = []
  /// The count is a power of two and at least twice that of flows.
  private var slots: [Slot]
  private let seed: UInt64
  /// The last flow found: segments come in runs.
  private var latest = -1

  init() {
    slots = Array(repeating: .free, count: 1_024)
    seed = UInt64.random(in: .min ... .max)
  }

  var count: Int { flows.count }

  @inline(__always)
  mutating func flow(of key: FlowKey) -> Flow? {
    if latest >= 0, latest < flows.count, flows[latest].key == key { return flows[latest] }
    let index = slots[slot(of: key, key.hash(seed: seed))].index
    guard index >= 0 else { return nil }
    latest = Int(index)
    return flows[latest]
  }

  func contains(_ key: FlowKey) -> Bool { slots[slot(of: key, key.hash(seed: seed))].index >= 0 }

  /// Adds a flow, or puts it in the place of the one with the same key.
  mutating func insert(_ flow: Flow) {
    let hash = flow.key.hash(seed: seed)
    let slot = slot(of: flow.key, hash)
    if slots[slot].index >= 0 {
      flows[Int(slots[slot].index)] = flow
      return
    }
    slots[slot] = Slot(index: Int32(truncatingIfNeeded: flows.count), tag: Self.tag(hash))
    flows.append(flow)
    if flows.count * 2 > slots.count { rebuild() }
  }

  /// Drops the flows that a closure does not want to keep.
  mutating func keep(where isKept: (Flow) -> Bool) {
    flows.removeAll { !isKept($0) }
    latest = -1
    rebuild()
  }

  func forEach(_ body: (Flow) -> Void) {
    for flow in flows { body(flow) }
  }

  /// The slot that holds a key, or the free one where it would go.
  @inline(__always)
  private func slot(of key: FlowKey, _ hash: UInt64) -> Int {
    let mask = slots.count - 1
    let tag = Self.tag(hash)
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let slot = slots[place]
      if slot.index < 0 || (slot.tag == tag && flows[Int(slot.index)].key == key) { return place }
      place = (place + 1) & mask
    }
  }

  @inline(__always)
  private static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

  private mutating func rebuild() {
    var capacity = 1_024
    while capacity < flows.count * 4 { capacity *= 2 }
    slots = Array(repeating: .free, count: capacity)
    for (index, flow) in flows.enumerated() {
      let hash = flow.key.hash(seed: seed)
      slots[slot(of: flow.key, hash)] = Slot(
        index: Int32(truncatingIfNeeded: index), tag: Self.tag(hash))
    }
  }
}
