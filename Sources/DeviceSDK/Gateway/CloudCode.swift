/// What a code of the cloud means, and what the gateway does about it.
public struct CloudCode: Sendable, Hashable {
  /// What the gateway does when an operation of its own is answered so.
  public enum Remedy: String, Sendable, Hashable, CaseIterable {
    /// Nothing: it is success.
    case none
    /// Fail the call; the same request would be answered the same.
    case fail
    /// Try again after a back-off of a minute and more, as there were too many requests.
    case slowDown
    /// Try again a few times, as the cloud's fault may pass.
    case retry
  }

  /// Where a code is seen.
  public enum Place: String, Sendable, Hashable, CaseIterable {
    /// In replies to adding topology.
    case addTopology
    /// In replies to deleting topology.
    case deleteTopology
    /// In replies to asking for the topology.
    case getTopology
    /// In replies to reporting what was found.
    case found
    /// In replies to logging in.
    case login
    /// In replies to logging out.
    case logout
    /// In replies to registering sub-devices.
    case register
    /// In replies to what a sub-device posts.
    case post
    /// In what the cloud says unasked of a session.
    case session
  }

  /// The number.
  public let code: Int
  /// What it means, and what to do; for people.
  public let meaning: String
  /// What the gateway does.
  public let remedy: Remedy
  /// Where it is seen.
  public let places: Set<Place>
  /// What it does to the line of the one sub-device that it is about.
  package let lineEvent: LineEvent?
  /// What it does to whether that sub-device is disabled.
  public let overlay: LineOverlay?

  init(
    _ code: Int, _ meaning: String, _ remedy: Remedy, _ places: Set<Place>,
    line lineEvent: LineEvent? = nil, overlay: LineOverlay? = nil
  ) {
    self.code = code
    self.meaning = meaning
    self.remedy = remedy
    self.places = places
    self.lineEvent = lineEvent
    self.overlay = overlay
  }

  /// Returns what is known of a code; one that is not known fails the call.
  /// - Parameter code: The number.
  /// - Returns: What is known.
  public static func known(_ code: Int) -> CloudCode {
    index[code] ?? CloudCode(code, "the cloud refused the request", .fail, [])
  }

  private static let index: [Int: CloudCode] = Dictionary(
    all.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

  /// The codes that the cloud documents for gateways.
  public static let all: [CloudCode] = general + sessions + devices + data

  private static let operations: Set<Place> = [
    .addTopology, .deleteTopology, .getTopology, .found, .login, .logout, .register,
  ]

  private static let general: [CloudCode] = [
    CloudCode(200, "success", .none, operations.union([.post])),
    CloudCode(400, "the request is wrong", .fail, []),
    CloudCode(
      401, "the signature does not fit; check the sub-device's secret and what it signs", .fail,
      [.addTopology]),
    CloudCode(
      429, "too many requests; wait a minute", .slowDown,
      [.addTopology, .deleteTopology, .getTopology, .login]),
    CloudCode(460, "a parameter of the request is wrong", .fail, operations),
    CloudCode(
      500, "the cloud has a fault; try again", .retry,
      [.getTopology, .found, .login, .logout, .register]),
    CloudCode(6_760, "the cloud has a fault; try again", .retry, []),
  ]

  private static let sessions: [CloudCode] = [
    CloudCode(
      427, "the sub-device is online elsewhere; log it in again if it should be here", .fail,
      [.session], line: .sessionLost),
    CloudCode(
      428, "the gateway has too many sub-devices online; log others out", .fail, [.login]),
    CloudCode(
      520, "the sub-device has no session here; log it in (at a logout: it was offline already)",
      .fail, [.logout, .session], line: .sessionLost),
    CloudCode(
      521, "the sub-device was deleted in the cloud", .fail, [.login, .session],
      line: .sessionLost),
    CloudCode(
      522, "the sub-device is disabled in the cloud; enable it there", .fail, [.login, .session],
      line: .sessionLost, overlay: .disabled),
    CloudCode(
      6_204, "the sub-device is disabled in the cloud; enable it there", .fail,
      [.addTopology, .login], overlay: .disabled),
    CloudCode(
      6_287, "the signature does not fit; check the sub-device's secret and what it signs", .fail,
      [.login]),
    CloudCode(
      6_401, "the sub-device is not this gateway's; add its topology first", .fail,
      [.deleteTopology, .login, .session], line: .topologyLost),
  ]

  private static let devices: [CloudCode] = [
    CloudCode(5_005, "the product does not exist; check the productKey", .fail, [.register]),
    CloudCode(5_244, "the product's LoRaWAN data is missing", .fail, [.register]),
    CloudCode(
      6_100, "the device does not exist; register it first", .fail,
      [.addTopology, .deleteTopology, .login, .register]),
    CloudCode(
      6_203, "the topic could not be read", .fail,
      [.addTopology, .deleteTopology, .getTopology, .found, .register]),
    CloudCode(6_250, "the product does not exist; check the productKey", .fail, [.found]),
    CloudCode(
      6_280, "the name is not legal: 4 to 32 of letters, digits and - _ @ . :", .fail, [.found]),
    CloudCode(
      6_288, "dynamic registration is off; turn it on for the product", .fail, [.register]),
    CloudCode(6_289, "the device is activated already", .fail, []),
    CloudCode(6_292, "the method of signing is not supported", .fail, [.register]),
    CloudCode(6_400, "the gateway has too many sub-devices", .fail, [.addTopology]),
    CloudCode(6_402, "a gateway can't be its own sub-device", .fail, [.addTopology]),
    CloudCode(6_600, "the signature does not fit", .fail, []),
    CloudCode(6_619, "the device is another gateway's already", .fail, [.register]),
  ]

  private static let data: [CloudCode] = [
    CloudCode(6_104, "more than 200 properties were asked for", .fail, []),
    CloudCode(6_106, "more than 200 properties were posted at once", .fail, [.post]),
    CloudCode(6_313, "the product's model is not available", .fail, [.post]),
    CloudCode(6_356, "more than 200 events are in one pack", .fail, [.post]),
    CloudCode(6_357, "more than 20 sub-devices are in one pack", .fail, [.post]),
    CloudCode(6_450, "the raw data was turned into something without a method", .fail, [.post]),
    CloudCode(6_661, "the cloud could not look it up", .fail, []),
    CloudCode(6_710, "the cloud could not look it up", .fail, []),
    CloudCode(6_713, "the cloud could not look it up", .fail, []),
    CloudCode(9_112, "the cloud could not look it up", .fail, []),
    CloudCode(26_001, "the product's script is empty", .fail, [.post]),
    CloudCode(26_002, "the product's script has a fault", .fail, [.post]),
    CloudCode(26_006, "the product's script lacks the function", .fail, [.post]),
    CloudCode(26_007, "the product's script gave no proper result", .fail, [.post]),
    CloudCode(26_010, "the product's script was called too often", .fail, [.post]),
  ]
}

extension CloudCode {
  /// Returns the error of a call that was answered with a code.
  /// - Parameters:
  ///   - code: The code.
  ///   - message: What the cloud said.
  /// - Returns: The error; of kind `noTopology` for 6401, otherwise `business`.
  static func error(_ code: Int, _ message: String) -> GatewayError {
    let said = message.isEmpty ? "" : " (\(message))"
    return GatewayError(
      code == 6_401 ? .noTopology : .business, known(code).meaning + said, cloudCode: code,
      underlying: CloudError(code: code, message: message))
  }
}
