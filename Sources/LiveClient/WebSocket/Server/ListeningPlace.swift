import Glibc
import RepriseCore

/// Where a server is to listen, as the library can be told it.
struct ListeningPlace: Sendable {
  /// An address, or the name of a network interface.
  let address: String
  /// The address as it was named.
  private let name: String
  private let port: UInt16

  /// Finds a place; a host name is looked up, which blocks until its name server has answered.
  /// - Parameters:
  ///   - name: An address, a host name, or the name of a network interface.
  ///   - port: The port; 0 is a free one.
  /// - Throws: ``DataClientError`` when nothing is called so.
  init(_ name: String, port: UInt16) throws(DataClientError) {
    self.name = name
    self.port = port
    guard !Self.isAddress(name), if_nametoindex(name) == 0 else {
      address = name
      return
    }
    let found = try TCPAddress.resolve(name, port: port)
    // Clients that try IPv6 first go on to IPv4, and some never try IPv6.
    guard let text = (found.first { $0.family == AF_INET } ?? found.first)?.numericHost else {
      throw DataClientError(.transport, "the host \(name) has no address")
    }
    address = text
  }

  private static func isAddress(_ name: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
  }

  /// Asks the system for the place, and gives it back.
  /// - Throws: ``DataClientError`` when it does not give it.
  func check() throws(DataClientError) {
    // An interface has addresses that only the library looks up.
    guard Self.isAddress(address), let place = try TCPAddress.resolve(address, port: port).first
    else { return }
    if let problem = TCPSocket.problem(ofBindingTo: place) { throw error(problem) }
  }

  /// Why nothing is listened on; nil when nobody says why.
  func error(_ problem: String?) -> DataClientError {
    let host = name.contains(":") ? "[\(name)]" : name
    return DataClientError(
      .transport, "\(host):\(port) can't be listened on" + (problem.map { ": \($0)" } ?? ""))
  }
}
