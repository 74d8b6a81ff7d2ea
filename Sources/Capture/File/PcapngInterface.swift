import RepriseCore

/// What an Interface Description Block says (draft-ietf-opsawg-pcapng, section 4.2).
struct PcapngInterface {
  /// The link type of its frames.
  let linkType: LinkType
  /// The most bytes captured of a frame; 0 if there is no limit.
  let snapshotLength: Int
  private let clock: Clock
  private let offset: Int64
  /// How many nanoseconds a tick has; 0 if that is not all there is to it.
  private let nanosecondsPerTick: UInt64

  /// Reads the block.
  ///
  /// - Parameters:
  ///   - block: The whole block, lengths included.
  ///   - order: The byte order of the section.
  ///   - place: Where the block begins in the file.
  /// - Throws: `CaptureError` if an option reaches past the block.
  init(_ block: RawSpan, _ order: ByteOrder, at place: Int) throws(CaptureError) {
    guard
      block.byteCount >= 20, let link = block.uint16(at: 8, order),
      let snapshot = block.uint32(at: 12, order)
    else {
      throw CaptureError(
        .malformedRecord, "an interface description block is too short", offset: place)
    }
    linkType = LinkType(rawValue: link)
    snapshotLength = Int(snapshot)
    var resolution: UInt8 = 6
    var shift: Int64 = 0
    var position = 16
    let end = block.byteCount - 4
    while let code = block.uint16(at: position, order), position + 4 <= end, code != 0 {
      let length = Int(block.uint16(at: position + 2, order) ?? 0)
      guard position + 4 + length <= end else {
        throw CaptureError(
          .malformedRecord, "option \(code) of an interface reaches past its block",
          offset: place + position)
      }
      switch (code, length) {
      case (9, 1): resolution = block.uint8(at: position + 4) ?? 6
      case (14, 8): shift = Self.signed(block, position + 4, order)
      default: break
      }
      position += 4 + (length + 3) & ~3
    }
    clock = Clock(resolution: resolution)
    offset = shift
    nanosecondsPerTick = shift == 0 ? clock.nanosecondsPerTick : 0
  }

  /// Whether its clock may count parts of microseconds.
  var isFinerThanMicroseconds: Bool { clock.isFinerThanMicroseconds }

  private static func signed(_ block: RawSpan, _ position: Int, _ order: ByteOrder) -> Int64 {
    guard let value = block.uint64(at: position) else { return 0 }
    return Int64(bitPattern: order == .big ? value : value.byteSwapped)
  }

  /// Returns the moment of a count of the interface's clock, clamped to what can be said.
  @inline(__always)
  func time(_ high: UInt32, _ low: UInt32) -> Timestamp {
    let ticks = UInt64(high) << 32 | UInt64(low)
    // Nearly every file counts micro- or nanoseconds from 1970.
    let (nanoseconds, overflow) = ticks.multipliedReportingOverflow(by: nanosecondsPerTick)
    guard nanosecondsPerTick > 0, !overflow, let whole = Int64(exactly: nanoseconds) else {
      return slowTime(ticks)
    }
    return Timestamp(nanoseconds: whole)
  }

  @inline(never)
  private func slowTime(_ ticks: UInt64) -> Timestamp {
    let (seconds, nanoseconds) = clock.split(ticks)
    let clampedSeconds = Int64(clamping: seconds)
    let (sum, sumOverflow) = clampedSeconds.addingReportingOverflow(offset)
    let (scaled, overflow) = sum.multipliedReportingOverflow(by: 1_000_000_000)
    let (total, totalOverflow) = scaled.addingReportingOverflow(Int64(nanoseconds))
    guard !sumOverflow, !overflow, !totalOverflow else {
      let isBefore = sumOverflow ? offset < 0 : sum < 0
      return Timestamp(nanoseconds: isBefore ? .min : .max)
    }
    return Timestamp(nanoseconds: total)
  }
}

extension PcapngInterface {
  /// The unit of an interface's clock, as option if_tsresol gives it.
  private enum Clock {
    case tenths(Int)
    case halves(Int)

    init(resolution: UInt8) {
      // The highest bit chooses between powers of ten and of two.
      let exponent = Int(resolution & 0x7f)
      self = resolution & 0x80 != 0 ? .halves(exponent) : .tenths(exponent)
    }

    /// How many nanoseconds a tick has; 0 if it is no whole number of them.
    var nanosecondsPerTick: UInt64 {
      switch self {
      case .tenths(let exponent) where exponent <= 9: Self.tenTo(9 - exponent)
      case .tenths, .halves: 0
      }
    }

    var isFinerThanMicroseconds: Bool {
      switch self {
      case .tenths(let exponent): exponent > 6
      case .halves(let exponent): exponent > 0
      }
    }

    /// Returns whole seconds and the nanoseconds of the last one.
    func split(_ ticks: UInt64) -> (seconds: UInt64, nanoseconds: UInt64) {
      switch self {
      case .tenths(let exponent):
        // 10^19 is the last power of ten in 64 bits; beyond it no count reaches a second.
        guard exponent > 19 else { return Self.split(ticks, perSecond: Self.tenTo(exponent)) }
        return (0, exponent - 9 > 19 ? 0 : ticks / Self.tenTo(exponent - 9))
      case .halves(let exponent):
        guard exponent > 63 else { return Self.split(ticks, perSecond: 1 << UInt64(exponent)) }
        let product = ticks.multipliedFullWidth(by: 1_000_000_000)
        return (0, product.high >> UInt64(exponent - 64))
      }
    }

    private static func split(_ ticks: UInt64, perSecond: UInt64) -> (UInt64, UInt64) {
      let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: perSecond)
      // The rest is below `perSecond`, so that the quotient is below 10^9 and cannot overflow.
      let product = rest.multipliedFullWidth(by: 1_000_000_000)
      return (seconds, perSecond.dividingFullWidth(product).quotient)
    }

    private static func tenTo(_ exponent: Int) -> UInt64 {
      var power: UInt64 = 1
      for _ in 0..<exponent { power &*= 10 }
      return power
    }
  }
}
