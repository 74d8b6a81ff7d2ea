/// One end of a TCP connection.
public struct Endpoint: Sendable, Hashable {
  /// The address.
  public let address: IPAddress
  /// The port.
  public let port: UInt16

  /// Creates an endpoint.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - port: The port.
  @inline(__always)
  public init(address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  /// Address and port, as `127.0.0.1:1883` or `[::1]:1883`.
  public var description: String {
    address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
  }
}
