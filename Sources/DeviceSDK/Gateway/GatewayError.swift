/// Why a call of the gateway failed.
public typealias GatewayError = DeviceError<GatewayErrorKind>

/// The class of an error of the gateway.
public enum GatewayErrorKind: Int, DeviceErrorKind, CaseIterable {
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
