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
  private static func mix(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
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

/// Finds the flow of a segment: a hash table with open addressing, looked up once per segment.
struct FlowTable<Flow: AnyObject> {
  private struct Entry {
    var key: FlowKey
    var flow: Flow
  }

  private var entries: [Entry] = []
  /// Indices into `entries`, or -1; the count is a power of two and at least twice that of entries.
  private var slots: [Int32]
  private let seed: UInt64
  /// The last flow found: segments come in runs.
  private var latest = -1

  init() {
    slots = Array(repeating: -1, count: 1_024)
    seed = UInt64.random(in: .min ... .max)
  }

  var count: Int { entries.count }

  @inline(__always)
  mutating func flow(of key: FlowKey) -> Flow? {
    if latest >= 0, latest < entries.count, entries[latest].key == key {
      return entries[latest].flow
    }
    let index = slots[slot(of: key)]
    guard index >= 0 else { return nil }
    latest = Int(index)
    return entries[latest].flow
  }

  func contains(_ key: FlowKey) -> Bool { slots[slot(of: key)] >= 0 }

  /// Adds a flow, or puts it in the place of the one with the same key.
  mutating func insert(_ flow: Flow, for key: FlowKey) {
    let slot = slot(of: key)
    if slots[slot] >= 0 {
      entries[Int(slots[slot])].flow = flow
      return
    }
    slots[slot] = Int32(truncatingIfNeeded: entries.count)
    entries.append(Entry(key: key, flow: flow))
    if entries.count * 2 > slots.count { rebuild() }
  }

  /// Drops the flows that a closure does not want to keep.
  mutating func keep(where isKept: (Flow) -> Bool) {
    entries.removeAll { !isKept($0.flow) }
    latest = -1
    rebuild()
  }

  func forEach(_ body: (Flow) -> Void) {
    for entry in entries { body(entry.flow) }
  }

  /// The slot that holds a key, or the free one where it would go.
  @inline(__always)
  private func slot(of key: FlowKey) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: key.hash(seed: seed)) & mask
    while slots[slot] >= 0, entries[Int(slots[slot])].key != key { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func rebuild() {
    var capacity = 1_024
    while capacity < entries.count * 4 { capacity *= 2 }
    slots = Array(repeating: -1, count: capacity)
    for index in entries.indices {
      slots[slot(of: entries[index].key)] = Int32(truncatingIfNeeded: index)
    }
  }
}
