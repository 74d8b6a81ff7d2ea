/// Why a ``DataClient`` did not do what it was asked for.
public struct DataClientError: Error, Sendable, Hashable {
  /// What kind of error it is; the only part that programs should compare.
  public var code: Code
  /// What is wrong and what can be done, for people.
  public var message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kinds of error; new ones may be added.
  public struct Code: Sendable, Hashable {
    private enum Value: Hashable, Sendable {
      case notConnected, unsupported, invalidAction, transport, diverged, noAnswer, unreadable
      case timedOut, rejected, undecodable, notRecorded, recordingFull
    }

    private let value: Value

    /// The action needs a connection, and there is none.
    public static let notConnected = Code(value: .notConnected)
    /// The transport or the peer can't do it, see ``DataClient/capabilities``.
    public static let unsupported = Code(value: .unsupported)
    /// The action can't be expressed: a wildcard in a topic, a payload too large.
    public static let invalidAction = Code(value: .invalidAction)
    /// The transport failed.
    public static let transport = Code(value: .transport)
    /// What was done is not what the session says.
    public static let diverged = Code(value: .diverged)
    /// A folder of answers has none to this.
    public static let noAnswer = Code(value: .noAnswer)
    /// What the client lives from can't be read.
    public static let unreadable = Code(value: .unreadable)
    /// No answer to a request came in time.
    public static let timedOut = Code(value: .timedOut)
    /// A request was answered by a status that is not success.
    public static let rejected = Code(value: .rejected)
    /// The answer to a request is not of the type that the request names.
    public static let undecodable = Code(value: .undecodable)
    /// The recording of what happens can't be written.
    public static let notRecorded = Code(value: .notRecorded)
    /// The recording has reached its size, and is not to go on in another file.
    public static let recordingFull = Code(value: .recordingFull)
  }
}

extension DataClientError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
