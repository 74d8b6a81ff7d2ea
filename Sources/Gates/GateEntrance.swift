import Glibc
import LiveClient
import RepriseCore

/// What the clients of a gate connect to; it rests where the system has nothing to accept with.
struct GateEntrance {
  private let listener: TCPSocket
  /// The number of the connection that came last; 0 where none has.
  private(set) var lastNumber: UInt64 = 0
  /// When to accept again.
  private var pausesUntil: Timestamp?

  /// How many connections there may be at a time; more wait.
  private static let connectionLimit = 64
  /// How long to wait when the system is out of file descriptors, in nanoseconds.
  private static let pause: Int64 = 100_000_000

  init(_ listener: TCPSocket) { self.listener = listener }

  /// What `poll` is to be asked.
  /// - Parameters:
  ///   - connections: How many connections there are.
  ///   - clock: The clock.
  /// - Returns: Nothing to ask while no connection is accepted.
  func interest(besides connections: Int, _ clock: LiveClock) -> pollfd {
    let isResting = pausesUntil.map { clock.milliseconds(until: $0) > 0 } ?? false
    let isAccepting = !isResting && connections < Self.connectionLimit
    return pollfd(fd: isAccepting ? listener.number : -1, events: Int16(POLLIN), revents: 0)
  }

  /// When to ask again; behind it the listener itself tells whether a client comes.
  func deadline(_ clock: LiveClock) -> Timestamp? {
    pausesUntil.flatMap { $0 > clock.now ? $0 : nil }
  }

  /// Accepts a connection, and counts it.
  /// - Parameter clock: The clock.
  /// - Returns: Its socket; nil where the client is gone.
  /// - Throws: `DataClientError` where the system has nothing to accept with.
  mutating func accept(_ clock: LiveClock) throws(DataClientError) -> TCPSocket? {
    do throws(DataClientError) {
      pausesUntil = nil
      guard let client = try listener.accept() else { return nil }
      lastNumber += 1
      return client
    } catch {
      pausesUntil = Timestamp(nanoseconds: clock.now.nanoseconds &+ Self.pause)
      throw error
    }
  }
}
