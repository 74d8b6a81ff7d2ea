package import RepriseCore

/// A question and its answer, as a protocol has them.
package enum ExchangeKind: UInt8, Sendable, Hashable, CaseIterable {
  /// From the first segment of a connection to its CONNECT: TCP, and TLS and WebSocket where they are used.
  case opening
  /// CONNECT to CONNACK.
  case connecting
  /// PUBLISH of QoS 1 to PUBACK.
  case publishing
  /// PUBLISH of QoS 2 to PUBREC.
  case receiving
  /// PUBREC to PUBREL; the one who asks is the receiver of the message.
  case releasing
  /// PUBREL to PUBCOMP.
  case completing
  /// PUBLISH of QoS 2 to the end of its exchange: PUBCOMP, or a PUBREC that refuses.
  case delivering
  /// SUBSCRIBE to SUBACK.
  case subscribing
  /// UNSUBSCRIBE to UNSUBACK.
  case unsubscribing
  /// PINGREQ to PINGRESP.
  case pinging
  /// A PUBLISH with a Response Topic to the one on that topic, with its Correlation Data (MQTT 5.0 section 4.10).
  case requesting
  /// A PUBLISH below /sys/ or /ext/ with an id to the one on the topic of its reply, with that id.
  case calling
  /// The request for WebSocket to its answer.
  case upgrading
  /// A Ping of WebSocket to the Pong with its payload.
  case webSocketPinging
  /// A text of WebSocket that is JSON with a uniqueId, or an id (or the key of an app's own), to the other end's text with that one.
  case webSocketRequesting
  /// A request of HTTP to its response.
  case fetching

  /// The name in results for programs.
  package var name: String {
    switch self {
    case .opening: "open-connect"
    case .connecting: "connect-connack"
    case .publishing: "publish-puback"
    case .receiving: "publish-pubrec"
    case .releasing: "pubrec-pubrel"
    case .completing: "pubrel-pubcomp"
    case .delivering: "publish-pubcomp"
    case .subscribing: "subscribe-suback"
    case .unsubscribing: "unsubscribe-unsuback"
    case .pinging: "pingreq-pingresp"
    case .requesting: "request-response"
    case .calling: "call-reply"
    case .upgrading: "upgrade-upgraded"
    case .webSocketPinging: "ping-pong"
    case .webSocketRequesting: "websocket-request-response"
    case .fetching: "http-request-response"
    }
  }

  /// The question and its answer, for people.
  package var title: String {
    switch self {
    case .opening: "open, CONNECT"
    case .connecting: "CONNECT, CONNACK"
    case .publishing: "PUBLISH, PUBACK"
    case .receiving: "PUBLISH, PUBREC"
    case .releasing: "PUBREC, PUBREL"
    case .completing: "PUBREL, PUBCOMP"
    case .delivering: "PUBLISH, PUBCOMP"
    case .subscribing: "SUBSCRIBE, SUBACK"
    case .unsubscribing: "UNSUBSCRIBE, UNSUBACK"
    case .pinging: "PINGREQ, PINGRESP"
    case .requesting: "request, response"
    case .calling: "call, reply"
    case .upgrading: "UPGRADE, UPGRADED"
    case .webSocketPinging: "PING, PONG"
    case .webSocketRequesting: "text with id, answer"
    case .fetching: "REQUEST, RESPONSE"
    }
  }
}

/// What became of a question.
package struct ExchangeOutcome: Sendable, Hashable {
  /// Which kind of question it was.
  package var kind: ExchangeKind
  /// The end that asked.
  var asker: Peer
  /// When it was asked first.
  package var time: Timestamp
  /// The frame in which it was asked first.
  package var frame: Int
  /// Whether the question is one of those that were selected.
  var isSelected: Bool
  /// How it ended.
  package var result: Result

  /// The ends of a question.
  package enum Result: Sendable, Hashable {
    /// The answer came, so many nanoseconds after the question, in a frame.
    case answered(Int, frame: Int)
    /// No answer came before the connection was closed, or before the one who asked gave it up.
    case unanswered
    /// The capture ends first.
    case stillOpen
    /// The capture does not tell: it lacks bytes, its clock went back, or the answer may be that to another question.
    case undecided
  }
}
