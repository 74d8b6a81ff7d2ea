/// Why a call of the gateway failed: the class of the error, and what the cloud said.
public struct GatewayError: Error, Sendable {
  /// The class of the error.
  public enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// The sub-device can't be reached: its connection does not open, or does not say who it is.
    case subdevice = 4301
    /// The cloud does not know the sub-device as this gateway's; add its topology first.
    case noTopology = 4302
    /// The caller or the SDK is wrong: a bad topic, a bad configuration, a call at the wrong time.
    case client = 4201
    /// There is no connection, or it was lost.
    case network = 4101
    /// The cloud refused, did not answer in time, or answered with something that is no answer.
    case gateway = 4102
    /// The cloud answered with a code other than 200.
    case business = 4103
    /// The identity of the connection is not accepted.
    case login = 4001
  }

  /// The class of the error; with ``cloudCode`` the only part that programs should compare.
  public var kind: Kind
  /// The code of the cloud, of its CONNACK or of its SUBACK, if one of them is the reason.
  public var cloudCode: Int?
  /// What is wrong and, where it is known, what to do; for people.
  public var message: String
  /// The error inside: what the cloud said, or what the application's connection said.
  public var underlying: (any Error)?

  /// Creates an error.
  /// - Parameters:
  ///   - kind: The class of the error.
  ///   - message: What is wrong, for people; never a secret.
  ///   - cloudCode: The code of the cloud.
  ///   - underlying: The error inside.
  public init(
    _ kind: Kind, _ message: String, cloudCode: Int? = nil, underlying: (any Error)? = nil
  ) {
    self.kind = kind
    self.message = message
    self.cloudCode = cloudCode
    self.underlying = underlying
  }
}

extension GatewayError: CustomStringConvertible {
  /// The class, the cloud's code and the message.
  public var description: String {
    guard let cloudCode else { return "\(kind.rawValue): \(message)" }
    return "\(kind.rawValue)/\(cloudCode): \(message)"
  }
}
