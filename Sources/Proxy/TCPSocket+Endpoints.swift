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
  /// Takes over an address of the system.
  init?(_ address: TCPAddress) {
    guard let (octets, port) = address.parts else { return nil }
    self.init(octets: octets, port: port)
  }
}
