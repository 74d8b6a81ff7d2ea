import RepriseCore

/// Every step of a system, in words without anything that may be secret.
extension SystemLog {
  /// Notes what is handed to the client.
  func note(_ action: ClientAction) {
    self(.debug, action.kind.module, "→ \(action.kind.logLine)")
  }

  /// Notes what the client brings; connections are told of by their machines, too.
  func note(_ event: ClientEvent) {
    guard let module = event.module else { return }
    self(.debug, module, "← \(event.logLine)")
  }
}

extension ClientAction.Kind {
  fileprivate var module: DeviceLog.Module {
    switch self {
    case .connect, .disconnect: .connection
    case .subscribe, .unsubscribe: .subscription
    case .publish, .send, .sendText, .sendBinary: .call
    }
  }

  /// The action without anything that may be secret.
  fileprivate var logLine: String {
    switch self {
    case .connect: "CONNECT"
    case .disconnect: "DISCONNECT"
    case .subscribe(let wanted): "SUBSCRIBE " + wanted.map(\.filter).joined(separator: " ")
    case .unsubscribe(let filters): "UNSUBSCRIBE " + filters.joined(separator: " ")
    case .publish(let message):
      "PUBLISH \(message.topic), QoS \(message.qos.rawValue), \(message.payload.count) bytes"
    case .send(let request): "\(request.method) \(request.path)"
    case .sendText(let text): "text, \(text.utf8.count) bytes"
    case .sendBinary(let bytes): "binary, \(bytes.count) bytes"
    }
  }
}

extension ClientEvent {
  /// The part that an event is for; nil when it is only that time went by.
  fileprivate var module: DeviceLog.Module? {
    switch self {
    case .connected, .closed, .ended: .connection
    case .subscribed, .unsubscribed: .subscription
    case .published, .message, .response, .text, .binary, .failed: .call
    case .deadline, .woken: nil
    }
  }

  fileprivate var logLine: String {
    switch self {
    case .connected: "connected"
    case .closed(let reason): "closed: \(reason)"
    case .ended: "the end"
    case .subscribed(_, let granted):
      "subscribed: "
        + granted.map { $0.map { "QoS \($0.rawValue)" } ?? "refused" }
        .joined(separator: ", ")
    case .unsubscribed: "unsubscribed"
    case .published: "published"
    case .message(let message): "message on \(message.topic), \(message.payload.count) bytes"
    case .response(_, let response): "status \(response.status), \(response.body.count) bytes"
    case .text(let text): "text, \(text.utf8.count) bytes"
    case .binary(let bytes): "binary, \(bytes.count) bytes"
    case .failed(_, let failure): "failed: \(failure)"
    case .deadline, .woken: ""
    }
  }
}
