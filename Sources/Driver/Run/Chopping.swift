import RepriseCore

/// Where what clients send is cut into segments of TCP: a broker must not mind.
package enum Chopping: Sendable, Hashable {
  /// Behind every byte.
  case everywhere
  /// At places that are drawn by lot, the same for the same seed.
  case seeded(UInt64)

  /// What `--chop N` does: the first time behind every byte, then at places that are drawn.
  /// - Parameter number: The number of the repetition, from 1.
  package init(number: Int) {
    self = number <= 1 ? .everywhere : .seeded(UInt64(truncatingIfNeeded: number))
  }

  /// How long is waited between two pieces: the system must not join them.
  static let pause: Duration = .milliseconds(1)
  /// The most pieces of what is sent at once; the rest is one more.
  private static let most = 512

  /// Cuts bytes.
  /// - Parameters:
  ///   - bytes: What is sent at once.
  ///   - offset: How many bytes were sent before, for other places each time.
  /// - Returns: The pieces.
  func pieces(of bytes: [UInt8], after offset: Int) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    var random = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: offset))
    while !rest.isEmpty, pieces.count < Self.most {
      let size = self == .everywhere ? 1 : 1 + Int(truncatingIfNeeded: random.next() % 7)
      pieces.append(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return rest.isEmpty ? pieces : pieces + [Array(rest)]
  }

  /// How it is called, for people.
  package var description: String {
    switch self {
    case .everywhere: "cut behind every byte"
    case .seeded(let seed): "cut at places drawn by the seed \(seed)"
    }
  }

  private var seed: UInt64 {
    switch self {
    case .everywhere: 0
    case .seeded(let seed): seed
    }
  }
}
