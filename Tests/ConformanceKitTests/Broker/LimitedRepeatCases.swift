import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages that may not be sent again in the session that goes on, as the server names limits, and their near misses.
  static let limitedRepeats: [SharedCase] = [
    limited(by: .number(.maximumPacketSize, 9), isOpen: false),
    limited(by: .number(.maximumPacketSize, 8), isOpen: true),
    limited(by: .number(.maximumQoS, 1), isOpen: false),
    limited(by: .number(.maximumQoS, 1), qos: 2, isOpen: true),
    limited(by: .number(.retainAvailable, 0), isOpen: false),
    limited(by: .number(.retainAvailable, 0), retain: true, isOpen: true),
    limited(by: .number(.receiveMaximum, 1), isOpen: false),
    limited(by: .number(.receiveMaximum, 1), isAnswered: false, isOpen: true),
    limited(by: .number(.receiveMaximum, 2), isAnswered: false, isOpen: false),
    limited(by: .number(.maximumQoS, 1), expiry: 1, isOpen: true),
  ]

  /// A message of 9 bytes that a client does not send again in a session that goes on, where the server names a limit.
  private static func limited(
    by limit: MQTTProperty, qos: UInt8 = 1, retain: Bool = false, expiry: Int? = nil,
    isAnswered: Bool = true, isOpen: Bool
  ) -> SharedCase {
    let what = (retain ? ", retained," : "") + (expiry == nil ? "" : ", which expires,")
    return SharedCase(
      "a client's message at QoS \(qos)\(what) that does not come again behind \(limit)"
        + (isAnswered ? "" : ", with another one open"),
      in: [.v5_0], failed: isOpen ? [] : [.repeatsComeWithSession],
      [.repeatsComeWithSession: isOpen ? (0, 0, 1, [8]) : (1, 0, 0, [isAnswered ? 12 : 11])]
    ) {
      $0.join("c", cleanStart: false, expiry: 100)
      $0.say(
        .client, "a", "1", qos: qos, id: 1, retain: retain,
        expiry.map { [.number(.messageExpiryInterval, $0)] } ?? [])
      $0.close(.client)
      $0.on(2) {
        $0.open()
        $0.client(
          .connect(
            .init(
              clientID: "c", cleanStart: false, keepAlive: 0,
              properties: [.number(.sessionExpiryInterval, 100)])))
        $0.server(.connack(.init(sessionPresent: true, properties: [limit])))
        $0.say(.client, "a", "", qos: 1, id: 2)
        if isAnswered { $0.acknowledge(.server, .puback, 2) }
        $0.wait(2)
        $0.finish()
      }
    }
  }
}
