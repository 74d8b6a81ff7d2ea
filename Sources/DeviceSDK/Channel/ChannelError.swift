/// Why a call of the channel failed.
public typealias ChannelError = DeviceError<ChannelErrorKind>

/// The class of an error of the channel.
public enum ChannelErrorKind: Int, DeviceErrorKind, CaseIterable {
  /// The caller or the SDK is wrong: a bad topic, a bad configuration, a call at the wrong time.
  case client = 4201
  /// There is no connection, it was lost, or nobody answered in time.
  case network = 4101
  /// The gateway refused, or answered with something that is no answer.
  case gateway = 4102
  /// The cloud answered with a code other than 200.
  case business = 4103
  /// The login token, or the identity of the connection, is not accepted.
  case login = 4001
}
