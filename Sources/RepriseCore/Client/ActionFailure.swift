/// Why an action that was handed over came to nothing.
public enum ActionFailure: Error, Sendable, Hashable {
  /// The server does not want it: its reason code from 0x80 on (MQTT 5.0 section 2.4), and its
  /// reason in its own words if it gave one (section 3.4.2.2.2).
  case refused(code: UInt8, reason: String?)
  /// No answer came, or none that can be read; the text of the transport is for people.
  case unanswered(Cause, String)

  /// Why no answer came.
  public enum Cause: String, Sendable, Hashable, CaseIterable {
    /// The network is not there.
    case noNetwork
    /// The server can't be reached.
    case unreachable
    /// The server's name can't be resolved.
    case nameNotResolved
    /// The server took too long.
    case timedOut
    /// The server could not show who it is, or did not trust the client.
    case notTrusted
    /// The connection was lost before the answer was complete.
    case lost
    /// What came is no answer of the protocol.
    case malformed
    /// Something else.
    case other
  }

  /// The server's reason code; nil when no answer came.
  public var code: UInt8? {
    switch self {
    case .refused(let code, _): code
    case .unanswered: nil
    }
  }
}

extension ActionFailure: CustomStringConvertible {
  /// What is wrong, with its code, and what can be done, for people.
  public var description: String {
    switch self {
    case .refused(let code, let reason):
      "the server refused it: \(ServerReason(code).text(saying: reason))"
    case .unanswered(let cause, let text): "\(cause.meaning): \(text); \(cause.remedy)"
    }
  }
}

extension ActionFailure.Cause {
  fileprivate var meaning: String {
    switch self {
    case .noNetwork: "the network is not there"
    case .unreachable: "the server can't be reached"
    case .nameNotResolved: "the server's name can't be resolved"
    case .timedOut: "the server took too long"
    case .notTrusted: "the two sides do not trust each other"
    case .lost: "the connection was lost"
    case .malformed: "what came is no answer"
    case .other: "there was no answer"
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .noNetwork: "connect this machine to a network"
    case .unreachable: "start it, or correct host and port"
    case .nameNotResolved: "correct the name, or look at the network's name server"
    case .timedOut: "try again, or wait longer"
    case .notTrusted: "look at the certificates of both sides"
    case .lost, .other: "try again"
    case .malformed: "see whether host and port are those of this server"
    }
  }
}
