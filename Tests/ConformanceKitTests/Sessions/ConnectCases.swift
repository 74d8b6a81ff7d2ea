import RepriseCore
import Wire

extension SessionCase {
  /// The fields of CONNECT and CONNACK.
  static let connects: [SessionCase] = names + wills + logins + payloads

  private static let names: [SessionCase] = [
    .passes("3.1.2-1", "the server closes on a CONNECT of another protocol") {
      $0.open()
      $0.client(hex: "10 0D 0004 4D515458 04 02 003C 0001 63")
      $0.close(.server)
    },
    .isOpen(
      "3.1.2-1", "the client closes behind its CONNECT of another protocol",
      saying: "the sender of the bad packet"
    ) {
      $0.open()
      $0.client(hex: "10 0D 0004 4D515458 04 02 003C 0001 63")
      $0.close(.client)
    },
    .isOpen(
      "3.1.2-1", "the server accepts a CONNECT of another protocol",
      saying: "may know the version"
    ) {
      $0.open()
      $0.client(hex: "10 0D 0004 4D515458 04 02 003C 0001 63")
      $0.server(.connack(.init()))
      $0.finish()
    },
    .isIdle("3.1.2-1", "the server closes on a CONNECT of MQTT") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.close(.server)
    },
  ]

  private static let wills: [SessionCase] = [
    .fails("3.1.2-9", "will flag, no will") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c"))
      $0.close(.server)
    },
    .passes("3.1.2-9", "will flag and will") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c") + field("t") + field("m"))
      $0.finish()
    },
    .isIdle("3.1.2-9", "no will flag") { $0.start() },
    .fails("3.1.2-11", "Will QoS without a will") {
      $0.open()
      $0.connect(flags: 0x0A, payload: field("c"))
      $0.close(.server)
    },
    .fails("3.1.2-11", "will fields and a user name that no flag announces") {
      $0.open()
      $0.connect(flags: 0x02, payload: field("c") + field("t") + field("m") + field("u"))
      $0.close(.server)
    },
    .isOpen("3.1.2-11", "two fields that may be a login", saying: "can't be told") {
      $0.open()
      $0.connect(flags: 0x02, payload: field("c") + field("t") + field("m"))
      $0.close(.server)
    },
    .passes("3.1.2-11", "no will") { $0.start() },
    .fails("3.1.2-13", "Will QoS 2 without a will") {
      $0.open()
      $0.connect(flags: 0x12, payload: field("c"))
      $0.close(.server)
    },
    .passes("3.1.2-13", "no will") { $0.start() },
    .fails("3.1.2-14", "Will QoS 3") {
      $0.open()
      $0.connect(flags: 0x1E, payload: field("c") + field("t") + field("m"))
      $0.close(.server)
    },
    .passes("3.1.2-14", "Will QoS 2") {
      $0.open()
      $0.connect(flags: 0x16, payload: field("c") + field("t") + field("m"))
      $0.finish()
    },
    .fails("3.1.2-15", "Will Retain without a will") {
      $0.open()
      $0.connect(flags: 0x22, payload: field("c"))
      $0.close(.server)
    },
    .passes("3.1.2-15", "no will") { $0.start() },
    .fails("3.1.3-10", "will topic FF") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c") + field([0xFF]) + field("m"))
      $0.close(.server)
    },
    .passes("3.1.3-10", "will topic t") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c") + field("t") + field("m"))
      $0.finish()
    },
    .isOpen("3.1.3-10", "will topic cut off", saying: "an earlier field of the packet is cut") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c"))
      $0.close(.server)
    },
  ]

  private static let logins: [SessionCase] = [
    .fails("3.1.2-18", "user name without its flag") {
      $0.open()
      $0.connect(flags: 0x02, payload: field("c") + field("bob"))
      $0.close(.server)
    },
    .isOpen("3.1.2-18", "left-over bytes that are no field", saying: "can't be told") {
      $0.open()
      $0.connect(flags: 0x02, payload: field("c") + [9])
      $0.close(.server)
    },
    .passes("3.1.2-18", "no user name") { $0.start() },
    .fails("3.1.2-19", "flag without a user name") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c"))
      $0.close(.server)
    },
    .passes("3.1.2-19", "user name") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c") + field("bob"))
      $0.finish()
    },
    .fails("3.1.2-20", "password without its flag") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c") + field("bob") + field("secret"))
      $0.close(.server)
    },
    .isOpen("3.1.2-20", "one field too many is a user name", saying: "can't be told") {
      $0.open()
      $0.connect(flags: 0x02, payload: field("c") + field("bob"))
      $0.close(.server)
    },
    .isOpen("3.1.2-20", "two fields too many are those of a will", saying: "can't be told") {
      $0.open()
      $0.connect(
        flags: 0x82, payload: field("c") + field("bob") + field("t") + field("m"))
      $0.close(.server)
    },
    .fails("3.1.2-20", "three fields too many are one more than those of a will") {
      $0.open()
      $0.connect(
        flags: 0x82,
        payload: field("c") + field("bob") + field("t") + field("m") + field("secret"))
      $0.close(.server)
    },
    .passes("3.1.2-20", "user name only") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c") + field("bob"))
      $0.finish()
    },
    .fails("3.1.2-21", "flag without a password") {
      $0.open()
      $0.connect(flags: 0xC2, payload: field("c") + field("bob"))
      $0.close(.server)
    },
    .isOpen("3.1.2-21", "user name cut too", saying: "an earlier field of the packet is cut") {
      $0.open()
      $0.connect(flags: 0xC2, payload: field("c"))
      $0.close(.server)
    },
    .passes("3.1.2-21", "password") {
      $0.open()
      $0.connect(flags: 0xC2, payload: field("c") + field("bob") + field("secret"))
      $0.finish()
    },
    .fails("3.1.2-22", "password flag alone") {
      $0.open()
      $0.connect(flags: 0x42, payload: field("c") + field("secret"))
      $0.close(.server)
    },
    .passes("3.1.2-22", "neither") { $0.start() },
    .fails("3.1.3-11", "user name FF") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c") + field([0xFF]))
      $0.close(.server)
    },
    .passes("3.1.3-11", "user name") {
      $0.open()
      $0.connect(flags: 0x82, payload: field("c") + field("bob"))
      $0.finish()
    },
  ]

  private static let payloads: [SessionCase] = [
    .fails("3.1.3-1", "will message left out") {
      $0.open()
      $0.connect(flags: 0xC6, payload: field("c") + field("t") + field("bob") + field("secret"))
      $0.close(.server)
    },
    .isOpen("3.1.3-1", "will message and will topic may be swapped", saying: "another order") {
      $0.open()
      $0.connect(flags: 0x06, payload: field("c") + field([0xFF]) + field("topic"))
      $0.close(.server)
    },
    .passes("3.1.3-1", "all fields") {
      $0.open()
      $0.connect(
        flags: 0xC6,
        payload: field("c") + field("t") + field("m") + field("bob") + field("secret"))
      $0.finish()
    },
    .isIdle("3.1.3-1", "a client identifier has no order") { $0.start() },
    .fails("3.1.3-3", "no payload") {
      $0.open()
      $0.connect(flags: 0x02, payload: [])
      $0.close(.server)
    },
    .isOpen("3.1.3-3", "bytes missing", saying: "bytes of the packet are missing") {
      $0.open()
      $0.client(hex: "10 0D 0004 4D515454 04 02 0000 0001 63", missing: 3)
      $0.endCapture()
    },
    .passes("3.1.3-3", "an empty identifier is one") {
      $0.open()
      $0.connect(flags: 0x02, payload: field(""))
      $0.finish()
    },
    .fails("3.1.3-4", "identifier FF") {
      $0.open()
      $0.connect(flags: 0x02, payload: field([0xFF]))
      $0.close(.server)
    },
    .passes("3.1.3-4", "identifier c") { $0.start() },
    .fails("3.1.3-7", "no identifier and no clean session") {
      $0.open()
      $0.connect(flags: 0x00, payload: field(""))
      $0.close(.server)
    },
    .passes("3.1.3-7", "no identifier and a clean session") {
      $0.open()
      $0.connect(flags: 0x02, payload: field(""))
      $0.finish()
    },
    .isIdle("3.1.3-7", "an identifier") { $0.start(cleanStart: false) },
    .fails("3.2.2-4", "a refusal with Session Present", saying: "the server sent a bad CONNACK") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init(sessionPresent: true, code: 5)))
      $0.close(.server)
    },
    .passes("3.2.2-4", "a refusal") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init(code: 5)))
      $0.close(.server)
    },
    .isIdle("3.2.2-4", "accepted") { $0.start() },
  ]
}
