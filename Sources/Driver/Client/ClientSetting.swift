package import LiveClient
package import RepriseCore

/// What all cases of a run against a client have in common.
struct ClientSetting {
  /// Where the client connects to.
  let place: ClientPlace
  /// What tells this run from others, eight letters and digits.
  let run: String
  /// What writes recordings, with its version.
  let application: String

  /// What the topic of a client is, where its command asks for one.
  func topic(of plan: CasePlan) -> String { "reprise/\(run)/\(plan.topicLevel)" }

  /// What a client calls itself, where its command asks for that: 16 to 23 letters and digits, which every server takes.
  func clientID(_ index: Int) -> String {
    let number = String(max(0, index), radix: 36)
    return "rp\(run)" + String(repeating: "0", count: max(0, 6 - number.count)) + number
  }
}

/// Where a client under test finds its broker.
///
/// It belongs to one thread, as what its connections by TLS have in common does.
package struct ClientPlace {
  /// A socket that listens for clients which connect by themselves; nil has a port of its own for each case.
  let listener: TCPSocket?
  /// What TLS is answered by; nil where none is.
  let security: TLSServerContext?
  /// Where the certificate is that vouches for it; nil where there is none.
  let authority: String?

  /// The socket that clients connect to, and its port.
  /// - Returns: That of clients which connect by themselves, or one at a free port of this computer.
  /// - Throws: `DataClientError` where the system gives none.
  package func socket() throws(DataClientError) -> (socket: TCPSocket, port: UInt16) {
    guard let listener else { return try TCPSocket.listening(on: Self.host) }
    return (listener, listener.localAddress?.parts?.port ?? 0)
  }

  /// The address of this computer that commands connect to.
  static let host = "127.0.0.1"

  /// Creates a place.
  /// - Parameters:
  ///   - listener: What clients connect to by themselves; nil has each case listen at a free port of this computer.
  ///   - security: What TLS is answered by; nil has none.
  ///   - authority: The file that holds the certificate which vouches for it; nil where there is none.
  package init(listener: TCPSocket?, security: TLSServerContext?, authority: String?) {
    (self.listener, self.security, self.authority) = (listener, security, authority)
  }
}
