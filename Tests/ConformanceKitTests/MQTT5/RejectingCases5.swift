import RepriseCore
import Wire

extension Case5 {
  /// An error for which no sentence makes its receiver look, and the packet that looks most like it and is none.
  private struct Error {
    var clause: String
    var name: String
    /// The properties of CONNECT and CONNACK.
    var asked: [MQTTProperty] = []
    var answered: [MQTTProperty] = []
    var sender = Peer.client
    var bad: String
    var right: String
  }

  /// What becomes of errors that a receiver need not notice: its close keeps the clause, and nothing violates it.
  static let rejecting: [Case5] =
    unnoticed.flatMap(sessions) + [
      Case5(
        about: "an error behind which comes one that a server must notice",
        [
          "U5-3.3.1.2-1": (0, 0, 1, [6]), "MQTT-3.8.3-5": (1, 0, 0, [8]),
          "MQTT-4.13.1-1": (1, 0, 1, [8]),
        ]
      ) {
        $0.agree()
        $0.showConnack()
        $0.client(hex: "36 07 0001 61 0001 00 31")
        $0.client(hex: "82 07 0001 00 0001 61 C0")
        $0.suback(1, 0)
        $0.finish()
      },
      Case5(
        about: "an alias that the client set before", ["U5-3.3.4-3": (0, 0, 0, [])]
      ) {
        $0.agree([], [.number(.topicAliasMaximum, 2)])
        $0.showConnack()
        $0.client(hex: "30 08 0001 61 03 23 0001 31")
        $0.client(hex: "30 07 0000 03 23 0001 31")
        $0.close(.server)
      },
      Case5(
        about: "an alias that the client may have set in a gap", ["U5-3.3.4-3": (0, 0, 0, [])]
      ) {
        $0.agree([], [.number(.topicAliasMaximum, 2)])
        $0.showConnack()
        $0.gap(.client)
        $0.client(hex: "30 07 0000 03 23 0001 31")
        $0.close(.server)
      },
      Case5(
        about: "an alias whose topic is not kept, as there are too many long ones",
        ["U5-3.3.4-3": (0, 0, 0, [])]
      ) {
        $0.agree([], [.number(.topicAliasMaximum, 9)])
        $0.showConnack()
        for alias in 1...5 {
          let topic = String(repeating: "a", count: 60_000 + alias)
          $0.publish(.client, topic, [.number(.topicAlias, alias)])
        }
        $0.client(hex: "30 07 0000 03 23 0005 31")
        $0.close(.server)
      },
      Case5(
        about: "a message to be retained by a server that retains",
        ["U5-3.2.2.3.5-2": (0, 0, 0, [])]
      ) {
        $0.agree()
        $0.showConnack()
        $0.client(hex: "31 05 0001 61 00 31")
        $0.close(.server)
      },
      Case5(
        about: "a Subscription Identifier for a server that takes them",
        ["U5-3.2.2.3.12-2": (0, 0, 0, [])]
      ) {
        $0.agree()
        $0.showConnack()
        $0.client(hex: "82 09 0001 02 0B 01 0001 61 00")
        $0.close(.server)
      },
      Case5(
        about: "a topic and a Content Type that are no UTF-8", ["U5-1.5.4-1": (0, 1, 0, [])]
      ) {
        $0.agree()
        $0.showConnack()
        $0.client(hex: "30 09 0001 FF 04 03 0001 FF 31")
        $0.close(.server)
      },
      Case5(
        about: "a QoS that a client without the CONNACK does not know to be too high",
        ["U5-3.2.2.3.4-2": (0, 0, 0, [])]
      ) {
        $0.agree([], [.number(.maximumQoS, 0)])
        $0.client(hex: "32 07 0001 61 0001 00 31")
        $0.close(.server)
      },
    ]

  private static func sessions(_ error: Error) -> [Case5] {
    @Sendable func begin(_ script: inout Script, _ packet: String) {
      script.agree(error.asked, error.answered)
      script.showConnack()
      if error.sender == .client { script.client(hex: packet) } else { script.server(hex: packet) }
    }
    let receiver = error.sender.other
    return [
      Case5(about: "\(error.name): the receiver closes", [error.clause: (0, 1, 0, [])]) {
        begin(&$0, error.bad)
        $0.close(receiver)
      },
      Case5(about: "\(error.name): the receiver goes on", [error.clause: (0, 0, 1, [6])]) {
        begin(&$0, error.bad)
        $0.wait(1)
        if receiver == .server {
          $0.ping()
          // The first may answer a bad PINGREQ.
          for _ in 1...2 { $0.pong() }
        } else {
          $0.showConnack(901)
        }
        $0.close(receiver)
      },
      Case5(about: "\(error.name): the sender closes", [error.clause: (0, 0, 1, [6])]) {
        begin(&$0, error.bad)
        $0.close(error.sender)
      },
      Case5(about: "\(error.name): a packet without the error", [error.clause: (0, 0, 0, [])]) {
        begin(&$0, error.right)
        $0.close(receiver)
      },
    ]
  }

  private static let large = "30 26 0001 61 00" + String(repeating: " 78", count: 34)
  private static let smaller = "30 1A 0001 61 00" + String(repeating: " 78", count: 22)
  private static let message = "30 05 0001 61 00 31"
  private static let request = "82 07 0001 00 0001 61 00"

  private static let unnoticed: [Error] = [
    Error(
      clause: "MQTT-4.13.1-1", name: "a property that is given twice",
      bad: "30 09 0001 61 04 01 01 01 01 31", right: "30 07 0001 61 02 01 01 31"),
    Error(
      clause: "MQTT-4.13.1-1", name: "a property that PUBLISH has not",
      bad: "30 08 0001 61 03 21 0001 31", right: "30 08 0001 61 03 23 0001 31"),
    Error(
      clause: "U5-1.5.4-1", name: "a topic that is no UTF-8", bad: "30 05 0001 FF 00 31",
      right: message),
    Error(
      clause: "U5-1.5.4-1", name: "U+0000 in a topic for a client", sender: .server,
      bad: "30 05 0001 00 00 31", right: message),
    Error(
      clause: "U5-1.5.7-1", name: "a User Property that is no UTF-8",
      bad: "30 0B 0001 61 07 26 0001 FF 0001 61", right: "30 0B 0001 61 07 26 0001 62 0001 61"),
    Error(
      clause: "U5-1.5.4-1", name: "a User Property is a pair",
      bad: "30 05 0001 FF 00 31", right: "30 0B 0001 61 07 26 0001 FF 0001 61"),
    Error(clause: "U5-2.1.3-1", name: "flags of PINGREQ", bad: "C1 00", right: "C0 00"),
    Error(
      clause: "U5-2.1.3-1", name: "flags of PINGREQ, and of SUBSCRIBE", bad: "C1 00",
      right: "80 07 0001 00 0001 61 00"),
    Error(
      clause: "U5-3.1.2.11.4-2", name: "a packet that is too large for the client",
      asked: [.number(.maximumPacketSize, 28)], sender: .server, bad: large, right: smaller),
    Error(
      clause: "U5-3.1.2.11.7-2", name: "a reason for a client that wants none",
      asked: [.number(.requestProblemInformation, 0)], sender: .server,
      bad: "40 08 0001 10 04 1F 0001 61", right: "40 02 0001"),
    Error(
      clause: "U5-3.2.2.3.4-2", name: "QoS 1 for a server of QoS 0",
      answered: [.number(.maximumQoS, 0)], bad: "32 07 0001 61 0001 00 31", right: message),
    Error(
      clause: "U5-3.2.2.3.5-2", name: "RETAIN for a server that retains nothing",
      answered: [.number(.retainAvailable, 0)], bad: "31 05 0001 61 00 31", right: message),
    Error(
      clause: "U5-3.2.2.3.6-2", name: "a packet that is too large for the server",
      answered: [.number(.maximumPacketSize, 28)], bad: large, right: smaller),
    Error(
      clause: "U5-3.2.2.3.11-2", name: "a wildcard for a server without",
      answered: [.number(.wildcardSubscriptionAvailable, 0)], bad: "82 07 0001 00 0001 23 00",
      right: request),
    Error(
      clause: "U5-3.2.2.3.12-2", name: "a Subscription Identifier for a server without",
      answered: [.number(.subscriptionIdentifierAvailable, 0)],
      bad: "82 09 0001 02 0B 01 0001 61 00", right: request),
    Error(
      clause: "U5-3.2.2.3.13-2", name: "a shared subscription for a server without",
      answered: [.number(.sharedSubscriptionAvailable, 0)],
      bad: "82 10 0001 00 000A 2473686172652F672F61 00", right: request),
    Error(
      clause: "U5-3.3.1.2-1", name: "both bits of QoS", bad: "36 07 0001 61 0001 00 31",
      right: "34 07 0001 61 0001 00 31"),
    Error(
      clause: "U5-3.3.4-2", name: "an alias above the maximum",
      answered: [.number(.topicAliasMaximum, 2)], bad: "30 08 0001 61 03 23 0003 31",
      right: "30 08 0001 61 03 23 0002 31"),
    Error(
      clause: "U5-3.3.4-2", name: "an alias of 0",
      answered: [.number(.topicAliasMaximum, 2)], bad: "30 08 0001 61 03 23 0000 31",
      right: "30 08 0001 61 03 23 0001 31"),
    Error(
      clause: "U5-3.3.4-3", name: "an alias that was not set",
      answered: [.number(.topicAliasMaximum, 2)], bad: "30 07 0000 03 23 0001 31",
      right: "30 08 0001 61 03 23 0001 31"),
    Error(
      clause: "MQTT-3.3.2-7", name: "an alias of another connection",
      answered: [.number(.topicAliasMaximum, 2)], bad: "30 07 0000 03 23 0001 31",
      right: "30 08 0001 61 03 23 0001 31"),
    Error(
      clause: "U5-3.8.3-1", name: "a SUBSCRIBE without filter", bad: "82 03 0001 00",
      right: request),
    Error(
      clause: "U5-3.10.3-1", name: "an UNSUBSCRIBE without filter", bad: "A2 03 0001 00",
      right: "A2 06 0001 00 0001 61"),
  ]
}
