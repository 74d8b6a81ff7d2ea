package import Capture
import LiveClient
package import RepriseCore

/// Where a proxy listens: `localhost:1884`, `1884` for the same, or `:1884` for all addresses of the computer.
package struct ProxyPlace: Sendable {
  /// The sockets, at least one.
  let listeners: [TCPSocket]
  /// The addresses that are listened on.
  package let addresses: [Endpoint]

  /// Opens the sockets; a host's name is looked up, which blocks until a name server has answered.
  /// - Parameter text: What was typed.
  /// - Throws: ``DataClientError`` that says what is wrong with it.
  package init(_ text: String) throws(DataClientError) {
    let (host, port) = try Self.parts(text)
    var listeners: [TCPSocket] = []
    // All addresses are those of IPv6, which has those of IPv4 in it unless the system is told otherwise.
    for host in host.isEmpty ? ["::", "0.0.0.0"] : [host] where listeners.isEmpty {
      for address in try TCPAddress.resolve(host, port: port) {
        do throws(DataClientError) {
          // A name can have an address of a family that is switched off here.
          guard let listener = try TCPSocket.listening(at: address, sharesFamilies: host == "::")
          else { continue }
          listeners.append(listener)
        } catch {
          throw DataClientError(
            .transport,
            "\(text) can't be listened on: \(error.message); type another port, or end what has this one"
          )
        }
      }
    }
    guard !listeners.isEmpty else {
      throw DataClientError(
        .transport,
        "\(text) can't be listened on: it is no address of this computer; type one that is")
    }
    self.listeners = listeners
    addresses = listeners.compactMap { $0.localAddress.flatMap { Endpoint($0) } }
  }

  /// Tells whether a server is the proxy itself, which would then be its own client without end.
  /// - Parameter upstream: The server.
  /// - Returns: Whether one of the server's addresses is listened on here.
  package func isServer(of upstream: ProxyUpstream) -> Bool {
    let servers = upstream.addresses.compactMap { Endpoint($0) }
    return servers.contains { server in
      addresses.contains { $0.port == server.port && Self.takes($0.address, server.address) }
    }
  }

  /// Whether what connects to an address comes to one that is listened on.
  private static func takes(_ listener: IPAddress, _ server: IPAddress) -> Bool {
    if listener == server { return true }
    // To connect to all addresses is to connect to the loopback.
    if isAny(server) { return isAny(listener) || isLoopback(listener) }
    guard isAny(listener), server.isIPv4 || !listener.isIPv4 else { return false }
    if isLoopback(server) { return true }
    let own = (try? [InterfaceAddress].ofThisMachine()) ?? []
    return own.contains { Endpoint(octets: $0.bytes, port: 0)?.address == server }
  }

  private static func isAny(_ address: IPAddress) -> Bool {
    address.isIPv4 ? address.low & 0xFFFF_FFFF == 0 : address.high == 0 && address.low == 0
  }

  private static func isLoopback(_ address: IPAddress) -> Bool {
    address.isIPv4 ? address.low >> 24 & 0xFF == 127 : address.high == 0 && address.low == 1
  }

  private static func parts(_ text: String) throws(DataClientError) -> (String, UInt16) {
    let digits = text.first == ":" ? text.dropFirst() : Substring(text)
    if let port = UInt16(digits), digits.first != "+", port > 0 {
      return (text.first == ":" ? "" : "localhost", port)
    }
    guard text.contains(":"), !text.contains("/"), !text.contains("@"),
      let url = try? BrokerURL("mqtt://\(text)"), url.port != 1_883 || text.hasSuffix(":1883")
    else {
      throw DataClientError(
        .invalidAction, "'\(text)' is no place to listen on; type HOST:PORT, or a port alone")
    }
    return (url.host, url.port)
  }
}
