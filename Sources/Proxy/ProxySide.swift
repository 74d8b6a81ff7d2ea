import Glibc
import LiveClient

/// One of the two sides of a connection through a proxy, and what waits to be written to it.
struct ProxySide {
  let channel: any ByteChannel
  /// What it was sent and has not taken yet.
  var waiting = OutputBuffer()
  /// What is to be sent to it later.
  var held = HeldBytes()
  /// Whether bytes can pass.
  var hasBegun = false
  /// What it waits for until they can.
  var beginning: Int32 = 0
  /// Whether it sends nothing more.
  var hasEnded = false
  /// Whether it was told that it is sent nothing more.
  var isFinished = false
  /// Whether its end waits until something can be written.
  var isFinishing = false
  /// Whether it takes nothing more, as it has broken the connection off.
  var isDeaf = false

  /// How many bytes may wait for a side before the other one is read no further.
  static let limit = 1 << 18

  init(_ channel: any ByteChannel) { self.channel = channel }

  /// Whether it takes more.
  var hasRoom: Bool { waiting.count + held.count < Self.limit }

  /// What to wait for.
  /// - Parameter other: The other side; nil as long as there is none.
  /// - Returns: What `poll` is to be asked; no file where there is nothing to wait for.
  func interest(_ other: ProxySide?) -> pollfd {
    var events: Int32 = 0
    if !hasBegun { return poll(beginning) }
    // Of a side that is told and has told its end there is nothing to hear but just that, without end.
    if hasEnded, isFinished { return poll(nil) }
    guard let other, other.hasBegun else { return poll(0) }
    if !waiting.isEmpty || isFinishing { events |= POLLOUT }
    if !hasEnded, other.hasRoom { events |= POLLIN }
    // Nor is one read to its end that the other side has no room for.
    return poll(events == 0 && !hasEnded ? nil : events)
  }

  private func poll(_ events: Int32?) -> pollfd {
    pollfd(
      fd: events == nil ? -1 : channel.number, events: Int16(truncatingIfNeeded: events ?? 0),
      revents: 0)
  }
}
