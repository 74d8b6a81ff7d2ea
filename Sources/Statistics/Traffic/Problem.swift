package import RepriseCore
package import Wire

/// What went wrong, in the words of the protocol.
package enum Problem: Sendable, Hashable {
  /// A packet says by its return or reason code that something was refused.
  case reason(MQTTPacketType, code: UInt8, sender: Peer)
  /// A message breaks a rule of its format; of one with several the first.
  case fault(String, sender: Peer)
  /// Bytes can't be cut into messages.
  case malformed(String, sender: Peer)
  /// Bytes are missing from the capture.
  case gap(Gap.Reason, sender: Peer)
  /// A fatal alert of TLS.
  case alert(code: UInt8, sender: Peer)
  /// A connection was not decrypted, or not to its end.
  case encrypted(String)
  /// A server refused WebSocket by a status.
  case upgradeRefused(status: Int)
  /// A Close frame whose code says that something is wrong.
  case webSocketClose(code: UInt16, sender: Peer)
  /// A response of HTTP with a status from 400 on.
  case status(Int)
  /// A request of HTTP without a response.
  case noResponse
  /// A try of a recorded client to connect.
  case attempt(ConnectionAttempt.How)

  /// What it is about: the name of an event.
  package var event: String {
    switch self {
    case .reason(let type, _, _): "\(type.name)"
    case .fault: "FAULT"
    case .malformed: "MALFORMED"
    case .gap: "GAP"
    case .alert: "ALERT"
    case .encrypted: "TLS"
    case .upgradeRefused: "REFUSED"
    case .webSocketClose: "CLOSE"
    case .status: "RESPONSE"
    case .noResponse: "UNANSWERED"
    case .attempt: "ATTEMPT"
    }
  }

  /// What it says, for people.
  package var text: String {
    switch self {
    case .reason(let type, let code, _):
      "\(ServerReason.name(code, in: type) ?? "a code of no standard") (\(Self.number(code)))"
    case .fault(let code, _), .malformed(let code, _): code
    case .gap(let reason, _):
      switch reason {
      case .leftOut: "left out by a selection"
      case .foreign: "bytes that are no MQTT"
      case .altered: "altered by a proxy"
      case .acknowledged, .snaplen, .unfilled, .limit, .encrypted:
        "bytes missing (\(reason.rawValue))"
      }
    case .alert(let code, _):
      TLSAlert(isFatal: true, code: code).name ?? "code \(code)"
    case .encrypted(let obstacle): "not decrypted: \(obstacle)"
    case .upgradeRefused(let status), .status(let status): "status \(status)"
    case .webSocketClose(let code, _): "code \(code)"
    case .noResponse: "no response"
    case .attempt(let how): how.rawValue
    }
  }

  /// The end that sent what shows it; nil where nobody did.
  package var sender: Peer? {
    switch self {
    case .reason(_, _, let sender), .fault(_, let sender), .malformed(_, let sender),
      .gap(_, let sender), .alert(_, let sender), .webSocketClose(_, let sender):
      sender
    case .upgradeRefused, .status: .server
    case .encrypted, .noResponse, .attempt: nil
    }
  }

  private static func number(_ code: UInt8) -> String {
    code < 0x80 ? "\(code)" : "0x\(String(code, radix: 16, uppercase: true))"
  }
}

extension EventView {
  /// Calls for each problem that the event shows.
  func forEachProblem(_ take: (Problem) -> Void) {
    let sender = context.sender
    switch body {
    case .mqtt(let packet):
      if let fault = packet.faults.first { take(.fault(fault.code.rawValue, sender: sender)) }
      packet.forEachRefusal { take(.reason(packet.type, code: $0, sender: sender)) }
    case .webSocket(let frame):
      if let fault = frame.faults.first { take(.fault(fault.code.rawValue, sender: sender)) }
      if let code = frame.closeCode, code > 1_001 {
        take(.webSocketClose(code: code, sender: sender))
      }
    case .handshake(let handshake):
      if let fault = handshake.faults.first { take(.fault(fault.code.rawValue, sender: sender)) }
      if case .response(let response) = handshake, !response.accepts {
        take(.upgradeRefused(status: response.status))
      }
    case .http(.response(_, let message)):
      if let status = message.status, status >= 400 { take(.status(status)) }
    case .http(.unanswered): take(.noResponse)
    case .http(.request): return
    case .gap(let gap): take(.gap(gap.reason, sender: sender))
    case .malformed(let malformation): take(.malformed(malformation.code, sender: sender))
    case .tls(.alert(let alert)):
      if alert.isFatal, alert.code != 0 { take(.alert(code: alert.code, sender: sender)) }
    case .tls(.handshake(let hellos)):
      if let obstacle = hellos.obstacle { take(.encrypted(obstacle)) }
    case .attempted(let attempt):
      if attempt.how != .endOfCapture { take(.attempt(attempt.how)) }
    case .opened, .closed: return
    }
  }
}

extension MQTTPacketView {
  /// Calls for each code that says that something was refused.
  fileprivate func forEachRefusal(_ take: (UInt8) -> Void) {
    switch type {
    case .suback, .unsuback:
      for code in [UInt8](copying: reasonCodes) where code >= 0x80 { take(code) }
    case .connack:
      if let reasonCode, reasonCode != 0 { take(reasonCode) }
    case .puback, .pubrec, .pubrel, .pubcomp, .disconnect, .auth:
      if let reasonCode, reasonCode >= 0x80 { take(reasonCode) }
    default: return
    }
  }
}
