/// The packets that came on a connection and that no step has waited for yet.
final class HeardPackets {
  private(set) var packets: [HeardPacket] = []

  func append(_ packet: HeardPacket) { packets.append(packet) }

  /// Takes the first packet out that is as it is wanted.
  func take(_ isWanted: (HeardPacket) -> Bool) -> HeardPacket? {
    guard let place = packets.firstIndex(where: isWanted) else { return nil }
    return packets.remove(at: place)
  }

  /// Makes what tells whether packets have come, or can't come any more.
  /// - Parameters:
  ///   - count: How many.
  ///   - isWanted: Which.
  ///   - isGone: Whether none can come any more.
  /// - Returns: The question, to be asked again and again; what has come it takes out.
  func takes(
    _ count: Int, _ isWanted: @escaping (HeardPacket) -> Bool, unless isGone: @escaping () -> Bool
  ) -> () -> Bool {
    var count = count
    return {
      while count > 0, self.take(isWanted) != nil { count -= 1 }
      return count <= 0 || isGone()
    }
  }
}
