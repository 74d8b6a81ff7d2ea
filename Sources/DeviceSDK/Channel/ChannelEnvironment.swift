/// Which installation of the cloud a channel leads to; older SDKs call it `LKAppExpressEnv`.
///
/// Those keep one for the whole process, to be set before the first start. Here it is a part of the configuration,
/// ``ChannelConfiguration/Endpoint/environment``: two channels of a process may differ in it, a test changes nothing
/// for its neighbour, and it can't change under a channel that runs.
public enum ChannelEnvironment: Int, Sendable, Hashable, CaseIterable {
  /// For the daily work of the cloud's own developers; it has private hosts, without TLS on port 1883.
  case daily = 1
  /// What is to be released next.
  case prerelease = 2
  /// What users use.
  case release = 3

  /// Creates an environment from the number by which API clients know it, which counts from 0.
  /// - Parameter serverEnvironment: 0 is daily, 1 is prerelease and 2 is release; nil for any other.
  public init?(serverEnvironment: Int) {
    let (value, overflow) = serverEnvironment.addingReportingOverflow(1)
    guard !overflow else { return nil }
    self.init(rawValue: value)
  }
}
