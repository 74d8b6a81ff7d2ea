/// Why the simulator can't be what it should.
public struct SimulatorError: Error, Sendable, Hashable {
  /// What kind of error it is; the only part that programs should compare.
  public var code: Code
  /// What is wrong, where, and what can be done, for people.
  public var message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kinds of error; new ones may be added.
  public struct Code: Sendable, Hashable {
    private enum Value: Hashable, Sendable {
      case unreadableScript, needsBroker, refused, notSubscribed, notPublished, unreachable
      case running
    }

    private let value: Value

    /// A script is not JSON, or has a key or a value that it can't have.
    public static let unreadableScript = Code(value: .unreadableScript)
    /// A script asks for what only ``InProcessBroker`` can do.
    public static let needsBroker = Code(value: .needsBroker)
    /// The broker refuses the connection, and will the next time.
    public static let refused = Code(value: .refused)
    /// The broker does not let the simulator see what devices send.
    public static let notSubscribed = Code(value: .notSubscribed)
    /// The broker does not let the simulator send to devices.
    public static let notPublished = Code(value: .notPublished)
    /// The broker could not be reached in as many attempts as are allowed.
    public static let unreachable = Code(value: .unreachable)
    /// The simulator runs already.
    public static let running = Code(value: .running)
  }
}

extension SimulatorError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
