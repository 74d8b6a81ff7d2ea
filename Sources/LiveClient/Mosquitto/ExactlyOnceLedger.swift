/// Which messages of QoS 2 the library holds until their PUBREL, and how many copies of each.
///
/// A server sends a message again after a connection broke. libmosquitto (2.0.11) then keeps a
/// second copy under the same packet identifier, and hands it out at the next PUBREL with that
/// identifier: the message comes twice, or instead of another one. The ledger tells these copies
/// from the messages.
struct ExactlyOnceLedger {
  private var awaited: Set<Int32> = []
  private var copies: [Int32: Int] = [:]
  private var hidden: Set<Int32> = []

  /// Whether a message was hidden by a copy twice; only a new handle will hand it out.
  private(set) var isStuck = false

  /// Whether no message is between its PUBLISH and its PUBREL.
  var isEmpty: Bool { awaited.isEmpty }

  /// Notes a PUBLISH of QoS 2.
  /// - Parameter mid: Its packet identifier.
  /// - Returns: Whether the library will hand it out; not while it holds a copy of an earlier
  ///   message.
  mutating func received(_ mid: Int32) -> Bool {
    if awaited.contains(mid) {
      copies[mid, default: 0] += 1
    } else if copies[mid] != nil {
      // The first time, the server may still have to finish what this handle holds.
      isStuck = isStuck || !hidden.insert(mid).inserted
      return false
    } else {
      awaited.insert(mid)
    }
    return true
  }

  /// Notes that the library hands out a message of QoS 2.
  /// - Parameter mid: Its packet identifier.
  /// - Returns: Whether it is the message, and no copy of one that was handed out before.
  mutating func handsOut(_ mid: Int32) -> Bool {
    guard awaited.remove(mid) == nil, let count = copies[mid] else { return true }
    copies[mid] = count > 1 ? count - 1 : nil
    return false
  }

  /// Reads the library's log line about a PUBLISH.
  ///
  /// There is no other sign of one of QoS 2: its callback comes with the PUBREL.
  /// - Parameters:
  ///   - line: The line.
  ///   - clientID: The client identifier, which stands in it.
  /// - Returns: The packet identifier; nil when the line is about something else.
  static func packetIdentifier(in line: String, clientID: String) -> Int32? {
    let start = "Client \(clientID) received PUBLISH (d"
    guard line.hasPrefix(start) else { return nil }
    let fields = line.utf8.dropFirst(start.utf8.count).split(separator: UInt8(ascii: ","))
    guard
      fields.count > 3, String(fields[1]) == " q2", let text = String(fields[3]),
      text.hasPrefix(" m")
    else { return nil }
    return Int32(text.dropFirst(2))
  }
}
