import RepriseCore

/// Puts datagrams together from their fragments, in whatever order those come (RFC 791, RFC 8200).
///
/// Where fragments overlap, the bytes that came first stay. Memory is bounded: when there are too
/// many datagrams or bytes, the oldest datagram is given up, and that is counted.
struct FragmentReassembler {
  /// The most datagrams that are waited for at a time.
  static let maximumDatagrams = 256
  /// The most bytes of fragments held at a time.
  static let maximumBytes = 8 << 20
  /// The most bytes of a datagram: its length has 16 bits.
  static let maximumDatagramLength = 65_535
  /// The most separate parts of a datagram; with the smallest MTU, 68, there are 683.
  static let maximumParts = 1_024
  /// Identifications are used again; after a minute (RFC 8200 section 4.5) it is another datagram.
  static let lifetime: Int64 = 60_000_000_000

  /// A datagram that has become complete.
  struct Datagram {
    /// The bytes from its beginning up to the first one that was not captured.
    let bytes: [UInt8]
    /// How many bytes there were on the wire.
    let wireLength: Int
    /// The protocol number in its first fragment.
    let protocolNumber: UInt8
  }

  /// How many fragments brought nothing new.
  private(set) var duplicates = 0
  /// How many datagrams were given up before they were complete.
  private(set) var evicted = 0
  /// How many fragments could not belong to any datagram.
  private(set) var malformed = 0

  private struct Key: Hashable {
    let source: IPAddress
    let destination: IPAddress
    let identification: UInt32
    let protocolNumber: UInt8
    let network: UInt32
  }

  private var partials: [Key: Partial] = [:]
  private var order: [Key] = []
  private var heldBytes = 0

  /// How many datagrams still miss a fragment.
  var pending: Int { partials.values.count { !$0.isComplete } }

  /// Takes a fragment.
  ///
  /// - Parameters:
  ///   - header: The fragment's header.
  ///   - fragment: Which part of the datagram it is.
  ///   - bytes: The captured part of its payload.
  ///   - wireLength: The length of its payload on the wire.
  ///   - network: The number of the network that it was tunnelled through; 0 where there is none.
  ///   - time: When it was captured.
  /// - Returns: The datagram, if this fragment completes it.
  mutating func add(
    _ header: InternetHeader, _ fragment: InternetHeader.Fragment, _ bytes: RawSpan,
    wireLength: Int, network: UInt32, time: Timestamp?
  ) -> Datagram? {
    let end = fragment.offset + wireLength
    guard wireLength > 0, end <= Self.maximumDatagramLength else {
      malformed += 1
      return nil
    }
    // IPv6 datagrams are told apart without the protocol, which only the first fragment knows.
    let key = Key(
      source: header.source, destination: header.destination,
      identification: fragment.identification,
      protocolNumber: header.source.isIPv4 ? header.protocolNumber : 0, network: network)
    if let old = partials[key], let time, let start = old.start,
      time.nanoseconds(since: start) > Self.lifetime
    {
      forget(key)
    }
    if partials[key] == nil {
      order.append(key)
      partials[key] = Partial(start: time)
    }
    let before = partials[key]?.bytes.count ?? 0
    let outcome = partials[key]?.add(
      bytes, at: fragment.offset..<end, hasMore: fragment.hasMore, header.protocolNumber)
    heldBytes += (partials[key]?.bytes.count ?? 0) - before
    switch outcome {
    case .complete:
      defer { evict() }
      return takeDatagram(key)
    case .duplicate: duplicates += 1
    case .contradiction: malformed += 1
    case .waiting, nil: break
    }
    evict()
    return nil
  }

  private mutating func takeDatagram(_ key: Key) -> Datagram? {
    guard let datagram = partials[key]?.takeDatagram() else { return nil }
    heldBytes -= datagram.heldLength
    return Datagram(
      bytes: datagram.bytes, wireLength: datagram.wireLength,
      protocolNumber: datagram.protocolNumber)
  }

  private mutating func evict() {
    while order.count > Self.maximumDatagrams || heldBytes > Self.maximumBytes {
      guard let oldest = order.first else { return }
      forget(oldest)
    }
  }

  private mutating func forget(_ key: Key) {
    guard let partial = partials.removeValue(forKey: key) else { return }
    order.removeAll { $0 == key }
    heldBytes -= partial.bytes.count
    if !partial.isComplete { evicted += 1 }
  }
}

extension FragmentReassembler {
  /// The fragments of one datagram; when it is complete its name stays, to know late copies by.
  private struct Partial {
    enum Outcome {
      case complete, waiting, duplicate, contradiction
    }

    let start: Timestamp?
    private(set) var bytes: [UInt8] = []
    private(set) var isComplete = false
    /// What is known, in ascending order, neither overlapping nor touching.
    private var known: [Range<Int>] = []
    private var length: Int?
    private var capturedEnd = FragmentReassembler.maximumDatagramLength
    private var protocolNumber: UInt8 = 0

    init(start: Timestamp?) { self.start = start }

    mutating func add(
      _ fragment: RawSpan, at range: Range<Int>, hasMore: Bool, _ number: UInt8
    ) -> Outcome {
      guard !isComplete else { return .duplicate }
      guard known.count < FragmentReassembler.maximumParts else { return .contradiction }
      if let length {
        guard range.upperBound <= length, hasMore || range.upperBound == length
        else { return .contradiction }
      } else if !hasMore {
        guard (known.last?.upperBound ?? 0) <= range.upperBound else { return .contradiction }
        length = range.upperBound
      }
      if range.lowerBound == 0 { protocolNumber = number }
      let gaps = missing(in: range)
      guard !gaps.isEmpty else { return .duplicate }
      if bytes.count < range.upperBound {
        bytes.append(contentsOf: repeatElement(0, count: range.upperBound - bytes.count))
      }
      for gap in gaps { copy(fragment, of: range, into: gap) }
      insert(range)
      guard let length, known.count == 1, known.first == 0..<length else { return .waiting }
      return .complete
    }

    /// Gives up the bytes of a complete datagram.
    mutating func takeDatagram() -> (
      bytes: [UInt8], wireLength: Int, protocolNumber: UInt8, heldLength: Int
    ) {
      let held = bytes.count
      if capturedEnd < held { bytes.removeLast(held - capturedEnd) }
      let datagram = bytes
      isComplete = true
      bytes = []
      known = []
      return (datagram, length ?? held, protocolNumber, held)
    }

    private func missing(in range: Range<Int>) -> [Range<Int>] {
      var gaps: [Range<Int>] = []
      var position = range.lowerBound
      for part in known where part.upperBound > position && part.lowerBound < range.upperBound {
        if part.lowerBound > position { gaps.append(position..<part.lowerBound) }
        position = part.upperBound
      }
      if position < range.upperBound { gaps.append(position..<range.upperBound) }
      return gaps
    }

    private mutating func copy(_ fragment: RawSpan, of range: Range<Int>, into gap: Range<Int>) {
      let start = range.lowerBound
      let part = fragment.clamped(gap.lowerBound - start, gap.upperBound - start)
      if part.byteCount < gap.count {
        // A snapshot length cut the fragment; what lies behind the cut cannot be used.
        capturedEnd = Swift.min(capturedEnd, gap.lowerBound + part.byteCount)
      }
      guard part.byteCount > 0 else { return }
      bytes.withUnsafeMutableBytes { target in
        part.withUnsafeBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: target[gap]).copyMemory(from: source)
        }
      }
    }

    /// Adds a range to what is known.
    private mutating func insert(_ range: Range<Int>) {
      var merged = range
      var kept: [Range<Int>] = []
      for part in known {
        if part.upperBound < merged.lowerBound || part.lowerBound > merged.upperBound {
          kept.append(part)
        } else {
          let lower = Swift.min(part.lowerBound, merged.lowerBound)
          merged = lower..<Swift.max(part.upperBound, merged.upperBound)
        }
      }
      let index = kept.firstIndex { $0.lowerBound > merged.lowerBound } ?? kept.count
      kept.insert(merged, at: index)
      known = kept
    }
  }
}
