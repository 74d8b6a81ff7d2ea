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

extension Endpoint {
  /// Creates an endpoint from the octets of its address; nil for another number of octets.
  /// - Parameters:
  ///   - octets: 4 of an address of IPv4, or 16 of one of IPv6; one of IPv4 within IPv6 is one of IPv4.
  ///   - port: The port.
  package init?(octets: [UInt8], port: UInt16) {
    let words = stride(from: 0, to: octets.count, by: 4).map { start in
      octets.dropFirst(start).prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    switch octets.count {
    case 4: self.init(address: IPAddress(ipv4: UInt32(truncatingIfNeeded: words[0])), port: port)
    case 16 where words[0] == 0 && words[1] == 0 && words[2] == 0xFFFF:
      self.init(address: IPAddress(ipv4: UInt32(truncatingIfNeeded: words[3])), port: port)
    case 16:
      self.init(
        address: IPAddress(high: words[0] << 32 | words[1], low: words[2] << 32 | words[3]),
        port: port)
    default: return nil
    }
  }
}

extension Endpoint: CustomStringConvertible {
  /// Address and port, as `127.0.0.1:1883` or `[::1]:1883`.
  public var description: String {
    address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
  }
}
