/// The addresses of the gates of a run: one for all scenarios, or one each.
///
/// A port that one gate has given back the next may get, so that a capture could not tell their packets
/// apart. From an address of the loopback network other than 127.0.0.1 on, every scenario gets the next
/// one; on Linux all of them are there.
struct GateAddresses: Sendable, Hashable {
  private static let common = "127.0.0.1"
  /// The first address as a number; nil when there is one for all.
  private let first: UInt32?

  /// One address for all.
  static let one = GateAddresses()

  private init() { first = nil }

  /// Begins with an address.
  /// - Parameter text: An address of IPv4 that starts with 127.
  /// - Throws: ``UsageError`` for another one.
  init(from text: String) throws(UsageError) {
    let bytes = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    let number = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1 ?? 0) }
    guard bytes.count == 4, !bytes.contains(nil), bytes[0] == 127 else {
      throw UsageError("--gate can't be '\(text)'", "type a loopback address such as 127.0.1.1")
    }
    first = text == Self.common ? nil : number
  }

  /// The address of a scenario.
  /// - Parameter index: The number of the scenario, from 0.
  subscript(index: Int) -> String {
    guard let first else { return Self.common }
    // Within 127.0.0.0/8, whatever the number.
    let number = first & 0xFF00_0000 | (first &+ UInt32(truncatingIfNeeded: index)) & 0x00FF_FFFF
    return [24, 16, 8, 0].map { String(number >> UInt32($0) & 0xFF) }.joined(separator: ".")
  }
}
