package import RepriseCore

/// A set of classes of errors: that of channels, or that of gateways.
public protocol DeviceErrorKind: RawRepresentable<Int>, Sendable, Hashable {
  /// The caller or the SDK is wrong: a bad topic, a bad configuration, a call at the wrong time.
  static var client: Self { get }
  /// There is no connection, or it was lost.
  static var network: Self { get }
  /// The other end refused, or answered with something that is no answer.
  static var gateway: Self { get }
  /// The login token, or the identity of the connection, is not accepted.
  static var login: Self { get }
}

/// Why a call of a channel (``ChannelError``) or of a gateway (``GatewayError``) failed: the class of the error, and
/// what the cloud said.
public struct DeviceError<ErrorKind: DeviceErrorKind>: Error, Sendable {
  /// The class of the error.
  public typealias Kind = ErrorKind

  /// The class of the error; with ``cloudCode`` the only part that programs should compare.
  public var kind: Kind
  /// The code of the cloud, of its CONNACK or of its SUBACK, if one of them is the reason.
  public var cloudCode: Int?
  /// What is wrong and, where it is known, what to do; for people.
  public var message: String
  /// The error inside: what the cloud, the transport or the application's connection said.
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

extension DeviceError {
  /// What an error of the client is to the users of a channel or a gateway.
  /// - Parameter error: The client's error, which becomes the one inside.
  package init(_ error: DataClientError) {
    let kind: Kind =
      switch error.code {
      case .notConnected, .transport: .network
      case .unsupported, .invalidAction: .client
      default: .gateway
      }
    self.init(kind, error.message, underlying: error)
  }
}

extension DeviceError: CustomStringConvertible {
  /// The class, the cloud's code and the message.
  public var description: String {
    guard let cloudCode else { return "\(kind.rawValue): \(message)" }
    return "\(kind.rawValue)/\(cloudCode): \(message)"
  }
}

/// What the cloud said when it refused a request.
public struct CloudError: Error, Sendable, Hashable {
  /// The code of the reply.
  public var code: Int
  /// The message of the reply.
  public var message: String

  /// Creates an error.
  public init(code: Int, message: String) {
    self.code = code
    self.message = message
  }
}
