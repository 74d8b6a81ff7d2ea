import RepriseCore
import Wire

extension ConnectionEnd {
  /// How it ended, for people.
  package var text: String {
    let who = peer.map { "the \($0.rawValue)" } ?? "nobody"
    switch cause {
    case .disconnected: return "DISCONNECT of \(who)" + reason(in: .disconnect)
    case .refused: return "refused by CONNACK" + reason(in: .connack)
    case .takenOver: return "taken over: its client connected again" + reason(in: .disconnect)
    case .keepAlive: return "keep-alive ran out, closed by the server" + reason(in: .disconnect)
    case .fault: return "closed by \(who) behind a faulty message"
    case .webSocketClose:
      return "Close frame of \(who)" + (code.map { ", code \($0)" } ?? "")
    case .alert:
      let alert = TLSAlert(isFatal: true, code: UInt8(clamping: code ?? 0))
      return "TLS alert of \(who): \(alert.name ?? "code \(alert.code)")"
    case .fin: return "FIN of \(who)"
    case .reset: return "reset by \(who)"
    case .endOfCapture: return "still open at the end of the capture"
    case .unknown: return "not known: bytes are missing before the end"
    case .failedAttempt: return "there was no connection"
    }
  }

  /// What the code means in a packet, behind a colon; empty for one that says that all is well.
  func reason(in type: MQTTPacketType) -> String {
    guard let code, code != 0 else { return "" }
    let byte = UInt8(clamping: code)
    let number = code < 0x80 ? "\(code)" : "0x\(String(code, radix: 16, uppercase: true))"
    return ": \(ServerReason.name(byte, in: type) ?? "a code of no standard") (\(number))"
  }
}
