public import RepriseCore

/// How a link behaves, and who it is.
///
/// Values out of their range are taken as the nearest that is in it; the fields show what is meant.
public struct LinkConfiguration: Sendable, Hashable {
  /// The app's identifier.
  public var appID: String
  /// The user's identifier; up to 64 bytes of letters, digits, spaces and punctuation.
  public var userID: String
  /// Tells this life of the SDK from another one of the same user; part of all its topics.
  public var sessionID: String
  /// The time between two heartbeats of the message service; whole seconds, 5 to 1800.
  public var heartbeatInterval: Duration {
    didSet { heartbeatInterval = Self.clamp(heartbeatInterval, 5...1_800) }
  }
  /// How long the server waits, after it has found the user silent, before it tells the others; whole
  /// seconds, 5 to 300.
  public var presenceTimeout: Duration {
    didSet { presenceTimeout = Self.clamp(presenceTimeout, 5...300) }
  }
  /// How long a login, or connecting again, may take before the link fails; zero is for ever,
  /// otherwise whole seconds, 15 to 3600.
  public var reconnectTimeout: Duration = .zero {
    didSet {
      guard reconnectTimeout > .zero else { return reconnectTimeout = .zero }
      reconnectTimeout = Self.clamp(reconnectTimeout, 15...3_600)
    }
  }
  /// Where log entries go.
  public var log = DeviceLog()
  /// How large the file of ``logToFile(_:level:)`` may get, in KiB, 128 to 1024.
  public var logFileSizeInKB = 1_024 {
    didSet { logFileSizeInKB = min(max(logFileSizeInKB, 128), 1_024) }
  }
  /// How long one try to connect may take.
  public var attemptTimeout: Duration = .seconds(10)
  /// How long a call waits for its answer.
  public var callTimeout: Duration = .seconds(10)
  /// How long a subscription waits for the list of users, if it is for presence.
  public var snapshotTimeout: Duration = .seconds(5)
  /// How long to wait for a connection to close in good order.
  public var closeTimeout: Duration = .seconds(5)
  /// How long to wait before a new try; two seconds at first, doubled each time.
  public var reconnect = BackOff(first: .seconds(2), longest: .seconds(128), jitterPercent: 0)
  /// Whether a login fails with −10017 while the user is logged in; otherwise it succeeds at once.
  public var rejectsRepeatedLogin = false
  /// Whether a login after a failure brings back what the session had before it.
  public var restoresAfterFailure = false
  /// Whether the broker is asked to tell the server of a lost connection, by a will.
  public var leavesWill = true

  /// Creates a configuration.
  /// - Parameters:
  ///   - appID: The app's identifier.
  ///   - userID: The user's identifier.
  ///   - sessionID: Tells this life of the SDK from another one; by chance if it is not given. A
  ///     program that replays a recorded session gives the recorded one.
  ///   - heartbeatInterval: The time between two heartbeats of the message service.
  ///   - presenceTimeout: How long the server waits before it tells others that the user is gone.
  public init(
    appID: String, userID: String, sessionID: String = Self.makeSessionID(),
    heartbeatInterval: Duration = .seconds(5), presenceTimeout: Duration = .seconds(300)
  ) {
    self.appID = appID
    self.userID = userID
    self.sessionID = sessionID
    self.heartbeatInterval = Self.clamp(heartbeatInterval, 5...1_800)
    self.presenceTimeout = Self.clamp(presenceTimeout, 5...300)
  }

  /// Makes an identifier of a session, by chance: sixteen hexadecimal digits.
  /// - Returns: The identifier.
  public static func makeSessionID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Has log entries written to a file, which gets no larger than ``logFileSizeInKB`` says.
  /// - Parameters:
  ///   - path: The file; what is in it stays.
  ///   - level: The least important entries that are written.
  /// - Throws: `DataClientError.Code.notRecorded` when it can't be written to.
  public mutating func logToFile(
    _ path: String, level: DeviceLog.Level = .info
  ) throws(DataClientError) {
    log = DeviceLog(level: level, to: try LogFile(path, limitInKB: logFileSizeInKB))
  }

  /// Checks what can be checked without a network.
  /// - Throws: ``LinkError`` that says which identifier is wrong.
  public func validate() throws(LinkError) {
    guard !appID.isEmpty else { throw LinkError(.invalidAppID, "appID is empty") }
    try LinkName.check(userID, .invalidUserID, "userID")
    guard !sessionID.isEmpty, sessionID.utf8.count <= 64 else {
      throw LinkError(.invalidParameter, "sessionID has to have 1 to 64 bytes")
    }
  }

  private static func clamp(_ duration: Duration, _ range: ClosedRange<Int64>) -> Duration {
    .seconds(min(max(duration.components.seconds, range.lowerBound), range.upperBound))
  }
}

/// What may be the name of a user, a channel or a topic.
enum LinkName {
  private static let punctuation = Set(" !#$%&()+-:;<=.>?@[]^_{}|~,".utf8)

  static func check(
    _ name: String, _ code: LinkErrorCode, _ kind: String
  ) throws(LinkError) {
    guard !name.isEmpty else { throw LinkError(code, "\(kind) is empty") }
    guard name.utf8.count <= 64 else {
      throw LinkError(code, "\(kind) is longer than 64 bytes: \(name)")
    }
    for byte in name.utf8 where !isAllowed(byte) {
      throw LinkError(
        code,
        "\(kind) may have letters, digits, spaces and !#$%&()+-:;<=.>?@[]^_{}|~, only: \(name)")
    }
  }

  static func checkChannel(_ name: String) throws(LinkError) {
    try check(name, .invalidChannelName, "the channel's name")
  }

  static func checkTopic(_ name: String) throws(LinkError) {
    try check(name, .channelInvalidTopicName, "the topic's name")
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: punctuation.contains(byte)
    }
  }
}
