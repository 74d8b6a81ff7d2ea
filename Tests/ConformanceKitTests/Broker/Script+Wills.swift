import RepriseCore
import Wire

extension MQTTPacket.Will {
  static func gone(qos: UInt8 = 0, retain: Bool = false, delay: Int? = nil) -> Self {
    MQTTPacket.Will(
      topic: "a", payload: Array("gone".utf8), qos: qos, retain: retain,
      properties: delay.map { [.number(.willDelayInterval, $0)] } ?? [])
  }
}

extension Script {
  /// A message of the client on connection 2 that the one on connection 1 gets: two frames.
  mutating func tell(_ text: String) {
    on(2) { $0.say(.client, "a", text) }
    say(.server, "a", text)
  }

  /// Clients on connection 1 that is subscribed, on 2 that publishes, and on 3 with a will: frames 1 to 13.
  mutating func attend(
    _ will: MQTTPacket.Will = .gone(), of owner: String = "c", options: UInt8 = 0,
    expiry: Int? = nil, isTold: Bool = true
  ) {
    meet(options: options)
    on(3) { $0.join(owner, expiry: expiry, will: will) }
    if isTold { tell("1") }
  }

  /// The client with the will leaves, in frames 14 and 15, and its will comes.
  mutating func comeAfterAll(
    behind seconds: Double = 6, leaving: (inout Script) -> Void = { $0.finish() },
    then: (inout Script) -> Void = { _ in }
  ) {
    attend()
    wait(seconds)
    on(3, leaving)
    then(&self)
    say(.server, "a", "gone")
    tell("2")
    part()
  }

  /// The client with the will says something in frame 14, and leaves a millisecond more than some time behind it.
  mutating func comeAfterMessage(of seconds: Double) {
    comeAfterAll(leaving: {
      $0.say(.client, "b", "3")
      $0.wait(seconds)
      $0.finish()
    })
  }

  /// A client with a will and a Keep Alive of 10 s leaves when it was silent for a while, and its will comes.
  mutating func comeAfterSilence(of seconds: Double) {
    meet()
    on(3) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: true, keepAlive: 10, will: .gone())))
      $0.server(.connack(.init()))
    }
    tell("1")
    wait(seconds)
    on(3) { $0.finish() }
    say(.server, "a", "gone")
    tell("2")
    part()
  }

  /// The client with the will leaves, and breaks off another connection that has none: frames 1 to 19.
  mutating func breakOff(then: (inout Script) -> Void) {
    attend()
    wait(6)
    on(3) { $0.finish() }
    wait(10)
    on(4) {
      $0.join("c")
      $0.wait(6)
      $0.close(.client, .reset)
    }
    then(&self)
    tell("2")
    part()
  }

  /// The client with a will that waits 10 s breaks off, and is back soon: frames 1 to 19 and those
  /// between.
  mutating func comeBackSoon(
    isPresent: Bool = true, behind lifetime: Double = 6, between: (inout Script) -> Void = { _ in }
  ) {
    attend(.gone(delay: 10), expiry: 100)
    wait(lifetime)
    on(3) {
      $0.answerPing()
      $0.close(.client, .reset)
    }
    between(&self)
    wait(2)
    on(4) { $0.join("c", cleanStart: false, isPresent: isPresent, expiry: 100) }
  }

  /// The client with a will breaks off, in frame 14, and one says something later, which comes in frame 20, but no will.
  mutating func missWill(
    of owner: String = "c", qos: UInt8 = 1, after seconds: Double = 70, by client: String = "c",
    isLate: Bool = false, meanwhile: ((inout Script) -> Void)? = nil
  ) {
    attend(.gone(qos: qos), of: owner)
    on(3) { $0.close(.client) }
    if let meanwhile { on(5, meanwhile) }
    wait(seconds)
    on(4) {
      $0.join(client)
      $0.say(.client, "a", "back", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
    say(.server, "a", "back", qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
    if isLate {
      say(.server, "a", "gone", qos: qos, id: 2)
      acknowledge(.client, .puback, 2)
    }
    tell("2")
    part()
    on(4) { $0.finish() }
  }
}
