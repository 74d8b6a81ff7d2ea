import RepriseCore
import Wire

extension SessionCase {
  /// PUBLISH and its first answer: sections 3.3 and 4.5.
  static let deliveries: [SessionCase] = strays + clientAnswers + serverAnswers

  private static let strays: [SessionCase] = [
    .isOpen("3.3.2-3", "a topic of nobody's", saying: "may have subscribed") {
      $0.start()
      $0.subscribe(1, "a/+")
      $0.suback(1, 2)
      $0.publish(.server, "b/c")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a client that asks for nothing", saying: "subscribed the client by itself")
    {
      $0.start()
      $0.publish(.server, "b/c")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a topic with its name", saying: "subscribed the client by itself") {
      $0.start(clientID: "lamp")
      $0.subscribe(1, "a/+")
      $0.suback(1, 2)
      $0.publish(.server, "b/lamp")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a topic with another name", saying: "may have subscribed") {
      $0.start(clientID: "lamp")
      $0.subscribe(1, "a/+")
      $0.suback(1, 2)
      $0.publish(.server, "b/lamps")
      $0.finish()
    },
    .fails("3.3.2-3", "a refused filter") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .fails("3.3.2-3", "a filter that is refused twice") {
      $0.start()
      $0.subscribe(1, "a")
      $0.subscribe(2, "a")
      $0.suback(1, 0x80)
      $0.suback(2, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .passes("3.3.2-3", "a filter that is granted, and refused to a request that was under way") {
      $0.start()
      $0.subscribe(1, "a")
      $0.subscribe(2, "a")
      $0.suback(1, 2)
      $0.suback(2, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .passes("3.3.2-3", "a filter that is refused behind a SUBACK whose code was not captured") {
      $0.start()
      $0.subscribe(1, "a")
      $0.server(hex: "90 03 00 01 02", missing: 1)
      $0.subscribe(2, "a")
      $0.suback(2, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .passes("3.3.2-3", "a filter that is refused behind a SUBACK that was not captured") {
      $0.start()
      $0.subscribe(1, "a")
      $0.gap(.server)
      $0.subscribe(2, "a")
      $0.suback(2, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .fails("3.3.2-3", "$SYS does not match #") {
      $0.start()
      $0.subscribe(1, "#")
      $0.suback(1, 2)
      $0.publish(.server, "$SYS/uptime")
      $0.finish()
    },
    .passes("3.3.2-3", "before SUBACK, between UNSUBSCRIBE and UNSUBACK, and shared") {
      $0.start(cleanStart: false)
      $0.subscribe(1, "a/#", "$share/g/b")
      $0.publish(.server, "a")
      $0.suback(1, 2, 1)
      $0.publish(.server, "b")
      $0.unsubscribe(2, "a/#")
      $0.publish(.server, "a/b")
      $0.unsuback(2)
      $0.finish()
    },
    .passes("3.3.2-3", "subscribed again while the UNSUBACK is on its way") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.unsubscribe(2, "a")
      $0.subscribe(3, "a")
      $0.unsuback(2)
      $0.publish(.server, "a")
      $0.suback(3, 2)
      $0.finish()
    },
    .isOpen("3.3.2-3", "unsubscribed", saying: "only a filter matches that was unsubscribed") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.publish(.server, "a")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a resumed session", saying: "the session began before") {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.publish(.server, "a")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a session that is said to be new", saying: "may have gone on with it") {
      $0.start(cleanStart: false)
      $0.publish(.server, "a")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a filter that is no text", saying: "faults of its own") {
      $0.start()
      $0.client(hex: "82 06 0001 0001 FF 00")
      $0.suback(1, 0)
      $0.publish(.server, "\u{FFFD}")
      $0.finish()
    },
    .isOpen("3.3.2-3", "mid-stream", saying: "the start of the connection") {
      $0.open(isFromStart: false)
      $0.publish(.server, "a")
      $0.endCapture()
    },
    .isOpen("3.3.2-3", "a gap of the client", saying: "bytes of the client") {
      $0.start()
      $0.gap(.client)
      $0.publish(.server, "a")
      $0.endCapture()
    },
    .isOpen("3.3.2-3", "a gap that shows only later", saying: "bytes of the client") {
      $0.start()
      $0.subscribe(1, "b")
      $0.publish(.server, "$SYS/a")
      $0.gap(.client)
      $0.ping()
      $0.finish()
    },
    .isOpen("3.3.2-3", "the client is not seen again", saying: "the request may be missing") {
      $0.start()
      $0.subscribe(1, "b")
      $0.publish(.server, "$SYS/a")
      $0.endCapture()
    },
    .isOpen("3.3.2-3", "SUBSCRIBE is captured late", saying: "in the wrong order") {
      $0.start()
      $0.subscribe(2, "b")
      $0.publish(.server, "$SYS/a")
      $0.subscribe(1, "$SYS/a")
      $0.suback(1, 2)
      $0.finish()
    },
    .isOpen("3.3.2-3", "SUBSCRIBE cut by the snaplen", saying: "bytes of the client") {
      $0.start()
      $0.client(hex: "82 0A 0001 0001 61 00 0001 62 00", missing: 4)
      $0.suback(1, 2, 2)
      $0.publish(.server, "b")
      $0.finish()
    },
    .isOpen("3.3.2-3", "a broker's own extension", saying: "a broker's own extension") {
      $0.start()
      $0.subscribe(1, "$queue/a")
      $0.suback(1, 2)
      $0.publish(.server, "a")
      $0.finish()
    },
  ]

  private static let clientAnswers: [SessionCase] = ["3.3.4-1", "4.5.0-2"].flatMap {
    [
      .fails($0, "PUBREC for QoS 1", saying: "the answer of another QoS") {
        $0.start()
        $0.receive(1, qos: 1)
        $0.acknowledge(.client, .pubrec, 1)
        $0.finish()
      },
      .fails($0, "the first of two messages is left out", saying: "the client never sent PUBACK 1")
      {
        $0.start()
        $0.receive(1, qos: 1)
        $0.receive(2, qos: 1)
        $0.acknowledge(.client, .puback, 2)
        $0.finish()
      },
      .fails($0, "no answer for a minute", saying: "the client never sent PUBREC 1") {
        $0.start()
        $0.receive(1, qos: 2)
        $0.goOn()
        $0.close(.server)
      },
      .passes($0, "PUBACK and PUBREC") {
        $0.start()
        $0.receive(1, qos: 1)
        $0.receive(2, qos: 2)
        $0.acknowledge(.client, .puback, 1)
        $0.acknowledge(.client, .pubrec, 2)
        $0.finish()
      },
      .isOpen($0, "the session goes on", saying: "the session outlives the connection") {
        $0.start(cleanStart: false)
        $0.receive(1, qos: 1)
        $0.goOn()
        $0.close(.server)
      },
      .isOpen($0, "the client leaves", saying: "closed instead of an answer") {
        $0.start()
        $0.receive(1, qos: 1)
        $0.finish()
      },
      .isOpen($0, "the capture ends", saying: "the capture ends") {
        $0.start()
        $0.receive(1, qos: 1)
        $0.goOn()
        $0.endCapture()
      },
      .isOpen($0, "a gap of the client", saying: "bytes of the client") {
        $0.start()
        $0.receive(1, qos: 1)
        $0.gap(.client)
        $0.goOn()
        $0.finish()
      },
      .isOpen($0, "a repeated message", saying: "a message was repeated") {
        $0.start()
        $0.republish(.server, "a", qos: 1, id: 1)
        $0.goOn()
        $0.close(.server)
      },
      .isOpen($0, "another QoS in a resumed session", saying: "the session began before") {
        $0.start(cleanStart: false, sessionPresent: true)
        $0.receive(1, qos: 1)
        $0.acknowledge(.client, .pubrec, 1)
        $0.finish()
      },
      .isIdle($0, "an acknowledgement of something older") {
        $0.start(cleanStart: false, sessionPresent: true)
        $0.acknowledge(.client, .puback, 7)
        $0.finish()
      },
    ]
  }

  private static let serverAnswers: [SessionCase] = [
    .fails("3.3.4-1", "PUBACK for QoS 2", saying: "the server gave PUBLISH 1") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    .fails("3.3.4-1", "the server never answers", saying: "the server never sent PUBACK 1") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.goOn()
      $0.finish()
    },
    .passes("3.3.4-1", "the server may answer out of order") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.publish(.client, "a", qos: 1, id: 2)
      $0.acknowledge(.server, .puback, 2)
      $0.finish()
    },
    .isIdle("4.5.0-2", "messages of the client are not the client's to answer") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
  ]
}

extension Script {
  /// The client is sent a message.
  mutating func receive(_ id: UInt16, qos: UInt8) { publish(.server, "a", qos: qos, id: id) }
}
