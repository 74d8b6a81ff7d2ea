public import DeviceSDK
import Synchronization

/// The radiator and its room.
///
/// This one is simulated; a real one would be reached by Bluetooth, in ``open()``.
public final class Radiator: SubdeviceConnection {
  private struct State {
    var room: Temperature
    var target: Temperature
  }

  /// What a target may be.
  public static let range: ClosedRange<Temperature> = 5.0...30.0

  private let credentials: DeviceCredentials
  private let state: Mutex<State>

  /// Creates a radiator.
  /// - Parameters:
  ///   - credentials: The device that it is to the cloud.
  ///   - room: How warm the room is.
  ///   - target: How warm it is to become.
  public init(
    _ credentials: DeviceCredentials = .radiator, room: Temperature = 18.0,
    target: Temperature = 21.0
  ) {
    self.credentials = credentials
    state = Mutex(State(room: room, target: target))
  }

  // MARK: The room

  /// How warm the room is.
  public var room: Temperature { state.withLock(\.room) }

  /// How warm the room is to become; the nearest that is in ``range``.
  public var target: Temperature {
    get { state.withLock(\.target) }
    set { state.withLock { $0.target = Self.nearest(to: newValue) } }
  }

  /// Makes the target warmer or cooler, within ``range``.
  /// - Parameter tenths: The tenths of a degree.
  /// - Returns: The new target.
  public func change(by tenths: Int) -> Temperature {
    state.withLock { state in
      state.target = Self.nearest(to: Temperature(tenths: state.target.tenths + tenths))
      return state.target
    }
  }

  private static func nearest(to target: Temperature) -> Temperature {
    min(max(target, range.lowerBound), range.upperBound)
  }

  /// Goes a quarter of the way to the target, and a tenth of a degree at least.
  public func work() {
    state.withLock { state in
      let distance = state.target.tenths - state.room.tenths
      state.room.tenths += distance / 4 == 0 ? distance.signum() : distance / 4
    }
  }

  // MARK: The way to it

  /// Whether it can be reached: always, as it is simulated.
  public var isReady: Bool { true }

  /// Does nothing.
  public func open() async throws {}

  /// Does nothing.
  public func close() async throws {}

  /// What the radiator says of itself.
  /// - Throws: `GatewayError` when its name is none.
  public func info() throws -> SubdeviceInfo {
    try SubdeviceInfo(signing: credentials, clientID: "radiator-1")
  }
}

extension DeviceCredentials {
  /// The radiator in the living room, as the simulated cloud takes any.
  public static let radiator = DeviceCredentials(
    productKey: "radiators", deviceName: "living-room", deviceSecret: Secret("secret-of-radiator"))
  /// The gateway in the hall, likewise.
  public static let gateway = DeviceCredentials(
    productKey: "gateways", deviceName: "hall", deviceSecret: Secret("secret-of-gateway"))
}
