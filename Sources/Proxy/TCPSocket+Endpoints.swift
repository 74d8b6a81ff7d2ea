import Capture
import LiveClient

extension TCPSocket {
  /// Both ends of a connection; nil when there is none any more.
  var ends: (local: Endpoint, remote: Endpoint)? {
    guard let local = localAddress.flatMap({ Endpoint($0) }),
      let remote = remoteAddress.flatMap({ Endpoint($0) })
    else { return nil }
    return (local, remote)
  }
}

extension Endpoint {
  /// Takes over an address of the system; one of IPv4 within IPv6 is one of IPv4.
  init?(_ address: TCPAddress) {
    guard let (bytes, port) = address.parts else { return nil }
    let words = stride(from: 0, to: bytes.count, by: 4).map { start in
      bytes.dropFirst(start).prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    switch words.count {
    case 1: self.init(address: IPAddress(ipv4: UInt32(truncatingIfNeeded: words[0])), port: port)
    case 4 where words[0] == 0 && words[1] == 0 && words[2] == 0xFFFF:
      self.init(address: IPAddress(ipv4: UInt32(truncatingIfNeeded: words[3])), port: port)
    case 4:
      self.init(
        address: IPAddress(high: words[0] << 32 | words[1], low: words[2] << 32 | words[3]),
        port: port)
    default: return nil
    }
  }
}
