import RepriseCore
import Wire

extension ConnectionExchanges {
  /// Takes a half of the handshake.
  mutating func consume(
    _ handshake: WebSocketHandshake, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    open.noteMessage(context)
    switch handshake {
    case .request: ask(.upgrading, 0, by: .client, context, isSelected, sink)
    case .response: answer(.upgrading, 0, to: .client, context, sink)
    }
  }

  /// Takes a frame.
  mutating func consume(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext, _ isSelected: Bool,
    _ sink: Sink
  ) {
    let sender = context.sender
    switch frame.opcode {
    case .ping: ping(Name.identity(of: frame.payload), context, isSelected, sink)
    case .pong: pong(Name.identity(of: frame.payload), context, sink)
    case .text:
      guard let request = RequestIdentity(frame, of: sender, requestKeys) else { return }
      if request.isAnswer {
        answer(.webSocketRequesting, request.id, to: sender.other, context, sink)
      } else {
        ask(
          .webSocketRequesting, request.id, by: sender, context, isSelected,
          isOptional: !request.asksForAnswer, sink)
      }
    default: return
    }
  }

  /// The most Pings of an end that are remembered.
  private static let mostPings = 1_024

  private mutating func ping(
    _ id: UInt64, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    ask(.webSocketPinging, id, by: context.sender, context, isSelected, sink)
    openPings[context.sender].append(id)
    guard openPings[context.sender].count > Self.mostPings else { return }
    openPings[context.sender].removeFirst(Self.mostPings / 2)
  }

  /// Takes a Pong; it may answer the latest Ping alone, and those before it then need none (RFC 6455 section 5.5.3).
  private mutating func pong(_ id: UInt64, _ context: EventContext, _ sink: Sink) {
    let asker = context.sender.other
    guard answer(.webSocketPinging, id, to: asker, context, sink) else { return }
    let pings = openPings[asker]
    guard let last = pings.lastIndex(of: id) else { return }
    for earlier in pings[..<last] where earlier != id {
      open.giveUp(
        ExchangeKey(kind: .webSocketPinging, asker: asker, id: earlier), sink)
    }
    openPings[asker].removeFirst(last + 1)
  }

  /// Takes a step of HTTP.
  mutating func consume(
    _ part: HTTPPart, _ context: EventContext, _ isSelected: Bool, _ sink: Sink
  ) {
    open.noteMessage(context)
    let id = UInt64(clamping: part.exchange)
    switch part {
    case .request: ask(.fetching, id, by: .client, context, isSelected, sink)
    case .response(_, let message):
      guard !message.isInterim else { return }
      answer(.fetching, id, to: .client, context, sink)
    case .unanswered:
      let key = ExchangeKey(kind: .fetching, asker: .client, id: id)
      open.giveUp(key, as: .unanswered, sink)
    }
  }
}
