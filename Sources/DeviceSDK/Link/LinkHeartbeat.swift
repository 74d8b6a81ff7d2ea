import RepriseCore

/// The heartbeats of one connection: when the next is sent, and since when one is not answered.
///
/// An answer to a heartbeat answers those before it too. Nothing is allocated after the beginning.
struct LinkHeartbeat: Sendable {
  /// What is to be done.
  enum Beat: Sendable, Hashable {
    /// Nothing yet.
    case rest
    /// Send the heartbeat of this number.
    case ping(UInt64)
    /// The oldest heartbeat without an answer is older than the grace.
    case silence
  }

  /// How long the answer to a heartbeat may take.
  static let grace: Duration = .seconds(10)
  /// The time between two heartbeats of a stream channel.
  static let streamInterval: Duration = .milliseconds(500)

  private let interval: Duration
  /// When the heartbeats were sent that may be without an answer; the place of one is its number
  /// modulo the count.
  private var times: [Timestamp]
  private var sent: UInt64 = 0
  private var answered: UInt64 = 0
  private var nextPing: Timestamp

  /// Starts the heartbeats of a connection that is open since a moment.
  init(every interval: Duration, since start: Timestamp) {
    self.interval = interval
    let most = Self.grace.clampedNanoseconds / max(interval.clampedNanoseconds, 1_000_000)
    times = Array(repeating: start, count: Int(most) + 2)
    nextPing = start.advanced(by: interval)
  }

  /// When something is to be done.
  var deadline: Timestamp {
    sent == answered ? nextPing : min(nextPing, oldest.advanced(by: Self.grace))
  }

  /// How many heartbeats were sent and not answered.
  var unanswered: UInt64 { sent - answered }

  private var oldest: Timestamp { times[place(of: answered + 1)] }

  private func place(of number: UInt64) -> Int { Int(number % UInt64(times.count)) }

  /// Takes the answer to a heartbeat; one that was never sent answers nothing.
  mutating func answer(_ number: UInt64) {
    if number > answered, number <= sent { answered = number }
  }

  /// Tells what is to be done by now.
  mutating func pass(_ now: Timestamp) -> Beat {
    if sent > answered, oldest.advanced(by: Self.grace) <= now { return .silence }
    guard nextPing <= now else { return .rest }
    sent += 1
    times[place(of: sent)] = now
    // Those that were missed, as while the device slept, are not made up for.
    nextPing = nextPing.advanced(by: interval)
    if nextPing <= now { nextPing = now.advanced(by: interval) }
    return .ping(sent)
  }

  /// Reads the number of a heartbeat; nil when it is none.
  static func number(in payload: [UInt8]) -> UInt64? {
    guard !payload.isEmpty, payload.count <= 19 else { return nil }
    var number: UInt64 = 0
    for byte in payload {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
    }
    return number
  }
}
