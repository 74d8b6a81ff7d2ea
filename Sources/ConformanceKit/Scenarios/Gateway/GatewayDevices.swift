import DeviceSDK
import Synchronization

/// The sub-devices of a scenario, as an application's connections would show them.
///
/// Each is ready unless a step says otherwise, says who it is, and signs that by a secret that was made
/// up for it.
final class GatewayDevices: Sendable {
  /// How a sub-device is when it is asked.
  enum Condition: String, Sendable {
    /// It says at once who it is.
    case ready
    /// Its connection must be opened first; a later step says what comes of that.
    case closed
    /// Its connection does not open.
    case broken
  }

  private struct State {
    var lastID: UInt64 = 0
    var names: [ConnectionID: String] = [:]
    var conditions: [String: Condition] = [:]
    /// What a sub-device says otherwise than it should; an empty text is not said at all.
    var sayings: [String: [String: String]] = [:]
    var signs: Set<String> = []
  }

  /// The key of the product that all of them are of.
  let productKey: String
  private let state = Mutex(State())

  /// Creates the sub-devices of one run.
  /// - Parameter productKey: The key of their product.
  init(productKey: String) { self.productKey = productKey }

  /// Makes a new connection to a sub-device.
  func connect(to name: String) -> ConnectionID {
    state.withLock { state in
      state.lastID += 1
      let id = ConnectionID(rawValue: state.lastID)
      state.names[id] = name
      return id
    }
  }

  /// Returns the newest connection to a sub-device; nil when there is none.
  func connection(to name: String) -> ConnectionID? {
    state.withLock { state in
      state.names.filter { $0.value == name }.keys.max { $0.rawValue < $1.rawValue }
    }
  }

  /// Returns the name of the sub-device behind a connection.
  func name(of connection: ConnectionID) -> String {
    state.withLock { $0.names[connection] ?? "\(connection.rawValue)" }
  }

  /// Says how a sub-device is from now on.
  /// - Parameters:
  ///   - name: Its name.
  ///   - condition: How it is; nil leaves that.
  ///   - saying: What it says otherwise than it should.
  func set(_ name: String, _ condition: Condition?, saying: [String: String]) {
    state.withLock { state in
      if let condition { state.conditions[name] = condition }
      state.sayings[name] = saying
    }
  }

  /// Whether a signature is one that a sub-device has made as it should.
  func hasMade(_ sign: String) -> Bool { state.withLock { $0.signs.contains(sign) } }

  // MARK: What they answer

  /// Returns what a sub-device says at once; nil when its connection has to be opened first.
  func answer(_ connection: ConnectionID) -> Result<SubdeviceInfo, GatewayError>? {
    let name = name(of: connection)
    switch state.withLock({ $0.conditions[name] ?? .ready }) {
    case .ready: return info(of: connection)
    case .closed: return nil
    case .broken: return Self.failure
    }
  }

  /// What comes of opening a connection that does not open.
  static let failure: Result<SubdeviceInfo, GatewayError> = .failure(
    GatewayError(.subdevice, "the scenario says that it does not open"))

  /// Returns what a sub-device says when it is there.
  func info(of connection: ConnectionID) -> Result<SubdeviceInfo, GatewayError> {
    let name = name(of: connection)
    return Result { () throws(GatewayError) in try info(of: name) }
  }

  private func info(of name: String) throws(GatewayError) -> SubdeviceInfo {
    let saying = state.withLock { $0.sayings[name] ?? [:] }
    let credentials = DeviceCredentials(
      productKey: productKey, deviceName: name, deviceSecret: Secret("made up for \(name)"))
    let method = SignMethod(named: saying["signMethod"] ?? "") ?? .sha256
    let clientID = saying["clientId"] ?? ""
    let signed = try SubdeviceInfo(
      signing: credentials, clientID: clientID.isEmpty ? name : clientID, method: method,
      timestamp: saying["timestamp"])
    state.withLock { _ = $0.signs.insert(signed.sign) }
    var words = [
      "productKey": productKey, "deviceName": name, "clientId": name, "sign": signed.sign,
      "signMethod": method.rawValue,
    ]
    words.merge(saying) { $1 }
    return try SubdeviceInfo(words)
  }
}
