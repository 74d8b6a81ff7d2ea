import RepriseCore
import Wire

extension WholeCase {
  /// A client that breaks its Keep Alive, and what shows that the server had noticed, or had not.
  static let doubtfulSilences: [WholeCase] = wakings + answersAfterSilence

  /// A client that was silent for a minute, and what came when its machine woke.
  private static func waking(
    _ name: String, failed: [String] = [], _ count: (Int, Int, Int, [Int]),
    after seconds: Double = 60, _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, ["MQTT-3.1.2-24": count]) {
      $0.start(keepAlive: 10)
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.wait(seconds)
      rest(&$0)
    }
  }

  private static let served = ["MQTT-3.1.2-24"]

  private static let wakings: [WholeCase] = [
    waking("a FIN of the server that is captured on waking", (0, 0, 1, [6])) { $0.close(.server) },
    waking("the same, and nobody answers it", failed: [], (0, 0, 1, [6])) {
      $0.close(.server, isAnswered: false)
    },
    waking("the client closes on waking, and the server's FIN comes", (0, 0, 1, [6])) {
      $0.close(.client)
    },
    waking("the client closes on waking, and the server knows of nothing", (0, 0, 1, [6])) {
      $0.close(.client, isAnswered: false)
    },
    waking("the client resets on waking", (0, 0, 1, [6])) { $0.close(.client, .reset) },
    waking("an old message comes on waking", (0, 0, 1, [6])) {
      $0.ping()
      $0.publish(.server, "a")
      $0.close(.server)
    },
    waking("a long PUBLISH was on its way for the minute", failed: [], (0, 0, 1, [7]), after: 50) {
      $0.publish(.server, "a")
      $0.wait(10)
      let payload = [UInt8](repeating: 0, count: 2_000)
      $0.client(.publish(.init(topic: "b", payload: payload, qos: 1, packetID: 2)))
      $0.acknowledge(.server, .puback, 2)
      $0.finish()
    },
    waking("44.9 s are within the bound", (0, 0, 0, []), after: 44.9) {
      $0.ping()
      $0.pong()
      $0.finish()
    },
    waking("45.5 s are beyond it", failed: served, (1, 0, 0, [7]), after: 45.5) {
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]

  private static let answersAfterSilence: [WholeCase] = [
    waking("a PUBLISH that ends the silence is acknowledged", failed: served, (1, 0, 0, [7])) {
      $0.publish(.client, "b", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    waking("a SUBSCRIBE that ends it is answered", failed: served, (1, 0, 0, [8])) {
      $0.subscribe(1, "b")
      $0.publish(.server, "a")
      $0.suback(1, 2)
      $0.finish()
    },
    waking("what comes behind it is answered", failed: served, (1, 0, 0, [8])) {
      $0.publish(.client, "b")
      $0.ping()
      $0.pong()
      $0.finish()
    },
    waking("it is answered behind a DISCONNECT", failed: served, (1, 0, 0, [8])) {
      $0.ping()
      $0.client(.disconnect(.init()))
      $0.pong()
      $0.close(.client)
    },
    waking("bytes of the server are missing behind it", (0, 0, 1, [6])) {
      $0.ping()
      $0.gap(.server)
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "a PUBLISH is repeated on waking, and acknowledged once", failed: [],
      ["MQTT-3.1.2-24": (0, 0, 1, [5])]
    ) {
      $0.start(keepAlive: 10)
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.wait(60)
      $0.republish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    WholeCase(
      "it is acknowledged twice", failed: served, ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.start(keepAlive: 10)
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.wait(60)
      $0.republish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    WholeCase(
      "the PINGRESP on waking may be that of the PINGREQ before",
      failed: ["MQTT-3.12.4-1"], ["MQTT-3.1.2-24": (0, 0, 1, [5])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.wait(1)
      $0.finish()
    },
    WholeCase(
      "the second PINGRESP is not", failed: served, ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "a PINGREQ before the silence may have been answered among lost bytes",
      failed: [], ["MQTT-3.1.2-24": (0, 0, 1, [6])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.gap(.server)
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]
}
