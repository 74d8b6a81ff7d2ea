/// Why a test can't be replayed or recorded.
public struct CassetteError: Error, Sendable, Hashable {
  /// What kind of error it is; the only part that programs should compare.
  public var code: Code
  /// What is wrong, where, and what can be done, for people.
  public var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kinds of error; new ones may be added.
  public struct Code: Sendable, Hashable {
    private enum Value: Hashable, Sendable {
      case badName, unknownMode, noRecording, noLiveClient, beingRecorded, secret, noScope, differs
    }

    private let value: Value

    /// The name of a recording, or of an argument, can't be that of a file.
    public static let badName = Code(value: .badName)
    /// The environment names a mode that there is not.
    public static let unknownMode = Code(value: .unknownMode)
    /// There is no recording, and the mode makes none.
    public static let noRecording = Code(value: .noRecording)
    /// Something is to be recorded, and nobody has said from what.
    public static let noLiveClient = Code(value: .noLiveClient)
    /// Another test records into the same file at the same time.
    public static let beingRecorded = Code(value: .beingRecorded)
    /// The recording has a secret in clear.
    public static let secret = Code(value: .secret)
    /// The client of a test was asked for outside of one.
    public static let noScope = Code(value: .noScope)
    /// The server does something else than the recording has.
    public static let differs = Code(value: .differs)
  }
}

extension CassetteError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
