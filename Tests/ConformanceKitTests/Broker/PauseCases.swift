import RepriseCore
import Wire

@testable import ConformanceKit

// Pauses of a whole capture, by which its clock may have been set.
extension SharedCase {
  static let pauses: [SharedCase] = [
    SharedCase(
      "two clients are silent for too long by one pause, and are served behind it",
      [.keepAliveIsEnforced: (0, 0, 2, [11, 15])]
    ) {
      $0.pair(10, 10)
      $0.wait(60)
      $0.answerPings()
    },
    SharedCase(
      "one is silent for too long by a pause, and the other need not send anything",
      failed: [.keepAliveIsEnforced, .clientKeepAliveIsEnforced],
      [.keepAliveIsEnforced: (1, 0, 0, [12])]
    ) {
      $0.pair(10, 0)
      $0.wait(60)
      $0.answerPings()
    },
    SharedCase(
      "the other's Keep Alive is not over by the pause",
      failed: [.keepAliveIsEnforced, .clientKeepAliveIsEnforced],
      [.keepAliveIsEnforced: (1, 0, 0, [12])]
    ) {
      $0.pair(10, 60)
      $0.wait(60)
      $0.answerPings()
    },
    SharedCase(
      "the other has left before the pause",
      failed: [.keepAliveIsEnforced, .clientKeepAliveIsEnforced],
      [.keepAliveIsEnforced: (1, 0, 0, [14])]
    ) {
      $0.pair(10, 10)
      $0.on(2) { $0.finish() }
      $0.wait(60)
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "one pings in the middle of what the other is silent for",
      failed: [.keepAliveIsEnforced, .clientKeepAliveIsEnforced],
      [.keepAliveIsEnforced: (1, 0, 0, [14])]
    ) {
      $0.pair(10, 40)
      $0.wait(30)
      $0.on(2) { $0.answerPing() }
      $0.wait(30)
      $0.answerPings()
    },
    SharedCase(
      "one was silent for too long before the pause",
      failed: [.keepAliveIsEnforced, .clientKeepAliveIsEnforced],
      [.keepAliveIsEnforced: (2, 0, 0, [16, 20])]
    ) {
      $0.pair(10, 10)
      for _ in 0..<2 {
        $0.wait(8)
        $0.answerPing()
      }
      $0.wait(60)
      $0.answerPings()
    },
    SharedCase(
      "the other's Keep Alive is not known", [.keepAliveIsEnforced: (0, 0, 1, [9])]
    ) {
      $0.on(2) {
        $0.open(isFromStart: false)
        $0.answerPing()
      }
      $0.start(keepAlive: 10)
      $0.answerPing()
      $0.wait(60)
      $0.answerPings()
    },
    SharedCase(
      "two clients break their Keep Alive by one pause, which may be none of theirs",
      complete: true,
      [.keepAlive: (0, 0, 2, [11, 15])]
    ) {
      $0.pair(10, 10)
      $0.wait(17)
      $0.answerPings()
    },
    SharedCase(
      "one breaks it by a pause", failed: [.keepAlive], complete: true,
      [.keepAlive: (1, 0, 0, [11])]
    ) {
      $0.pair(10, 0)
      $0.wait(17)
      $0.answerPings()
    },
    SharedCase(
      "the server ends one behind the pause, as its own clock tells it", failed: [.keepAlive],
      complete: true, [.keepAlive: (2, 0, 0, [15, 16])]
    ) {
      $0.pair(10, 10)
      $0.on(3) { $0.join("c3") }
      $0.wait(17)
      $0.on(3) { $0.say(.server, "wills", "1") }
      $0.close(.server)
      $0.on(2) {
        $0.answerPing()
        $0.finish()
      }
    },
    SharedCase(
      "a client's first messages behind such a pause need not be later than the CONNACK",
      in: [.v5_0],
      [.clientKeepsReceiveMaximum: (0, 1, 1, [8])]
    ) { $0.floodBehindPause(10, 10) },
    SharedCase(
      "the same where the other client need not send anything", in: [.v5_0],
      failed: [.clientKeepsReceiveMaximum], others: ["MQTT-4.9.0-1", "MQTT-4.9.0-2"],
      [.clientKeepsReceiveMaximum: (1, 1, 0, [8])]
    ) { $0.floodBehindPause(10, 0) },
  ]
}

extension Script {
  /// Two clients by their Keep Alives, of which each was heard: frames 1 to 10.
  fileprivate mutating func pair(
    _ first: UInt16, _ second: UInt16, _ properties: [MQTTProperty] = []
  ) {
    for (connection, keepAlive) in [(1, first), (2, second)] {
      on(connection) {
        $0.open()
        $0.client(
          .connect(.init(clientID: "c\(connection)", cleanStart: true, keepAlive: keepAlive)))
        $0.server(.connack(.init(properties: properties)))
        if properties.isEmpty { $0.answerPing() }
      }
    }
  }

  /// Behind a minute without anything a client sends two messages where the server takes one.
  fileprivate mutating func floodBehindPause(_ first: UInt16, _ second: UInt16) {
    pair(first, second, [.number(.receiveMaximum, 1)])
    wait(60)
    say(.client, "a", "1", qos: 1, id: 1)
    say(.client, "a", "2", qos: 1, id: 2)
    finish()
    on(2) { $0.finish() }
  }

  /// Both ping, are answered and leave.
  fileprivate mutating func answerPings() {
    for connection in [1, 2] {
      on(connection) {
        $0.answerPing()
        $0.finish()
      }
    }
  }
}
