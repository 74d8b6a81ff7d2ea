/// Which properties a packet or a will has, as one word.
public struct MQTTPropertySet: Sendable, Hashable {
  private var bits: UInt64 = 0
  // No identifier is so high.
  private static let whole: UInt64 = 1 << 63

  init(isWhole: Bool = false) { bits = isWhole ? Self.whole : 0 }

  /// Whether all properties could be read, so that what is not here is not there either.
  public internal(set) var isWhole: Bool {
    get { bits & Self.whole != 0 }
    set { bits = newValue ? bits | Self.whole : bits & ~Self.whole }
  }

  /// Whether there are none that could be read.
  public var isEmpty: Bool { bits & ~Self.whole == 0 }

  /// Tells whether a property is there.
  @inline(__always)
  public func contains(_ id: MQTTPropertyID) -> Bool { bits &>> UInt64(id.rawValue) & 1 == 1 }

  @inline(__always)
  mutating func insert(_ id: MQTTPropertyID) { bits |= 1 &<< UInt64(id.rawValue) }

  /// Calls for the identifier of each property.
  @inline(__always)
  public func forEach(_ body: (Int) -> Void) {
    var rest = bits & ~Self.whole
    while rest != 0 {
      body(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
  }
}
