import RepriseCore
import Wire

extension SessionCase {
  /// SUBSCRIBE and SUBACK: sections 3.8 and 3.9.
  static let subscriptions: [SessionCase] = subscribeAnswers + subackIdentifiers + subackCodes

  private static let subscribeAnswers: [SessionCase] = [
    .fails("3.8.4-1", "no SUBACK for a minute", saying: "never answered SUBSCRIBE 1") {
      $0.start()
      $0.subscribe(1, "a")
      $0.goOn()
      $0.finish()
    },
    .passes("3.8.4-1", "SUBACK") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.finish()
    },
    .isOpen("3.8.4-1", "the capture ends", saying: "the capture ends") {
      $0.start()
      $0.subscribe(1, "a")
      $0.goOn()
      $0.endCapture()
    },
    .isOpen("3.8.4-1", "the capture stops without a word", saying: "the capture ends") {
      $0.start()
      $0.subscribe(1, "a")
    },
    .isOpen("3.8.4-1", "a gap of the server", saying: "bytes of the server") {
      $0.start()
      $0.subscribe(1, "a")
      $0.gap(.server)
      $0.goOn()
      $0.finish()
    },
    .isOpen("3.8.4-1", "the server's stream breaks", saying: "bytes of the server") {
      $0.start()
      $0.garbage(.server)
      $0.subscribe(1, "a")
      $0.wait(60)
      $0.close(.client)
    },
    .isOpen("3.8.4-1", "the client leaves", saying: "waited for the answer") {
      $0.start()
      $0.subscribe(1, "a")
      $0.finish()
    },
    .isOpen("3.8.4-1", "the server closes", saying: "closed instead of an answer") {
      $0.start()
      $0.subscribe(1, "a")
      $0.close(.server)
    },
    .isOpen("3.8.4-1", "the SUBSCRIBE is bad", saying: "faults of its own") {
      $0.start()
      $0.subscribe(1, "a#")
      $0.goOn()
      $0.finish()
    },
  ]

  private static let subackIdentifiers: [SessionCase] =
    ["3.8.4-2", "2.3.1-7"].flatMap {
      [
        .fails($0, "SUBACK 11 for SUBSCRIBE 10", saying: "SUBACK has identifier 11") {
          $0.start()
          $0.subscribe(10, "a")
          $0.suback(11, 2)
          $0.finish()
        },
        .passes($0, "SUBACK 10 for SUBSCRIBE 10") {
          $0.start()
          $0.subscribe(10, "a")
          $0.suback(10, 2)
          $0.finish()
        },
        .isOpen($0, "mid-stream", saying: "the start of the connection") {
          $0.open(isFromStart: false)
          $0.suback(10, 2)
          $0.endCapture()
        },
        .isOpen($0, "a gap of the client", saying: "bytes of the client") {
          $0.start()
          $0.gap(.client)
          $0.suback(10, 2)
          $0.finish()
        },
        .isOpen($0, "SUBSCRIBE is captured behind its SUBACK", saying: "in the wrong order") {
          $0.start()
          $0.suback(10, 2)
          $0.subscribe(10, "a")
          $0.goOn()
          $0.finish()
        },
        .isOpen($0, "the client resets", saying: "the request may be missing") {
          $0.start()
          $0.suback(10, 2)
          $0.close(.client, .reset)
        },
        .passes($0, "a gap of the server before the SUBACK") {
          $0.start()
          $0.subscribe(10, "a")
          $0.gap(.server)
          $0.suback(10, 2)
          $0.finish()
        },
      ]
    } + [
      .fails("2.3.1-7", "UNSUBACK 12 for UNSUBSCRIBE 11") {
        $0.start()
        $0.unsubscribe(11, "a")
        $0.unsuback(12)
        $0.finish()
      }
    ]

  private static let subackCodes: [SessionCase] = [
    .fails("3.8.4-5", "one code for two filters", saying: "does not answer each filter") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.suback(1, 2)
      $0.finish()
    },
    .fails("3.8.4-5", "code 0x03") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 3)
      $0.finish()
    },
    .passes("3.8.4-5", "a code each") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.suback(1, 2, 0x80)
      $0.finish()
    },
    .isOpen("3.8.4-5", "SUBACK cut by the snaplen", saying: "bytes of the packet") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.server(hex: "90 04 0001 0202", missing: 1)
      $0.finish()
    },
    .isOpen("3.8.4-5", "SUBSCRIBE with faults", saying: "faults of its own") {
      $0.start()
      $0.subscribe(1, "a#", "b")
      $0.suback(1, 2)
      $0.finish()
    },
    .fails("3.8.4-4", "one code for two filters", saying: "does not answer each filter") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.suback(1, 2)
      $0.finish()
    },
    .passes("3.8.4-4", "a code for each of two filters") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.suback(1, 2, 0x80)
      $0.finish()
    },
    .isIdle("3.8.4-4", "two codes for one filter") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2, 2)
      $0.finish()
    },
    .isOpen("3.8.4-4", "two filters with faults", saying: "faults of its own") {
      $0.start()
      $0.subscribe(1, "a#", "b")
      $0.suback(1, 2)
      $0.finish()
    },
    .fails("3.9.3-1", "codes the wrong way round", saying: "fit in another order only") {
      $0.start()
      $0.subscribeTwice(0, 2)
      $0.suback(1, 2, 0)
      $0.finish()
    },
    .passes("3.9.3-1", "codes as asked for") {
      $0.start()
      $0.subscribeTwice(0, 2)
      $0.suback(1, 0, 2)
      $0.finish()
    },
    .isOpen("3.9.3-1", "the same QoS twice", saying: "ask for the same QoS") {
      $0.start()
      $0.subscribeTwice(1, 1)
      $0.suback(1, 1, 1)
      $0.finish()
    },
    .isOpen("3.9.3-1", "a lowered QoS", saying: "the server lowered a QoS") {
      $0.start()
      $0.subscribeTwice(1, 2)
      $0.suback(1, 1, 1)
      $0.finish()
    },
    .isOpen("3.9.3-1", "more than anybody asked for", saying: "no order of the codes fits") {
      $0.start()
      $0.subscribeTwice(0, 1)
      $0.suback(1, 2, 0)
      $0.finish()
    },
    .isIdle("3.9.3-1", "one filter has no order") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.finish()
    },
  ]

  /// UNSUBSCRIBE and UNSUBACK: section 3.10.
  static let unsubscriptions: [SessionCase] =
    unsubscribeAnswers + [
      .fails("3.10.4-4", "UNSUBACK 12 for UNSUBSCRIBE 11", saying: "UNSUBACK has identifier 12") {
        $0.start()
        $0.unsubscribe(11, "a")
        $0.unsuback(12)
        $0.finish()
      },
      .isOpen("3.10.4-4", "mid-stream", saying: "the start of the connection") {
        $0.open(isFromStart: false)
        $0.unsuback(12)
        $0.endCapture()
      },
      .isIdle("3.10.4-5", "a filter that is subscribed") {
        $0.start()
        $0.subscribe(1, "a")
        $0.suback(1, 2)
        $0.unsubscribe(2, "a")
        $0.unsuback(2)
        $0.finish()
      },
      .isOpen("3.10.4-5", "a resumed session", saying: "which subscriptions the session had") {
        $0.start(cleanStart: false, sessionPresent: true)
        $0.unsubscribe(2, "a")
        $0.unsuback(2)
        $0.finish()
      },
      .fails("3.10.4-6", "an UNSUBACK for each filter", saying: "more than once") {
        $0.start()
        $0.unsubscribe(2, "a", "b")
        $0.unsuback(2)
        $0.unsuback(2)
        $0.finish()
      },
      .isIdle("3.10.4-6", "one filter") {
        $0.start()
        $0.unsubscribe(2, "a")
        $0.unsuback(2)
        $0.finish()
      },
      .fails("3.10.4-3", "no PUBREL after UNSUBSCRIBE", saying: "the server never sent PUBREL 1") {
        $0.start()
        $0.deliverAcrossUnsubscribe()
        $0.goOn()
        $0.close(.client)
      },
      .passes("3.10.4-3", "PUBREL after UNSUBSCRIBE") {
        $0.start()
        $0.deliverAcrossUnsubscribe()
        $0.acknowledge(.server, .pubrel, 1)
        $0.acknowledge(.client, .pubcomp, 1)
        $0.finish()
      },
      .isOpen("3.10.4-3", "the session goes on", saying: "the session outlives the connection") {
        $0.start(cleanStart: false)
        $0.deliverAcrossUnsubscribe()
        $0.goOn()
        $0.close(.client)
      },
      .isOpen("3.10.4-3", "the client leaves", saying: "waited for the answer") {
        $0.start()
        $0.deliverAcrossUnsubscribe()
        $0.finish()
      },
      .isIdle("3.10.4-3", "nothing is on its way") {
        $0.start()
        $0.unsubscribe(2, "a")
        $0.unsuback(2)
        $0.finish()
      },
    ]

  private static let unsubscribeAnswers: [SessionCase] =
    ["3.10.4-4", "3.10.4-5", "3.10.4-6"].flatMap {
      [
        .fails($0, "no UNSUBACK for a minute", saying: "never answered UNSUBSCRIBE 2") {
          $0.start()
          $0.unsubscribe(2, "a", "b")
          $0.goOn()
          $0.finish()
        },
        .passes($0, "UNSUBACK") {
          $0.start()
          $0.unsubscribe(2, "a", "b")
          $0.unsuback(2)
          $0.finish()
        },
        .isOpen($0, "the client leaves", saying: "waited for the answer") {
          $0.start()
          $0.unsubscribe(2, "a", "b")
          $0.finish()
        },
        .isOpen($0, "a gap of the server", saying: "bytes of the server") {
          $0.start()
          $0.unsubscribe(2, "a", "b")
          $0.gap(.server)
          $0.goOn()
          $0.finish()
        },
      ]
    }
}

extension Script {
  /// A SUBSCRIBE with two filters of their own QoS.
  fileprivate mutating func subscribeTwice(_ first: UInt8, _ second: UInt8) {
    client(
      .subscribe(packetID: 1, [.init("a", options: first), .init("b", options: second)], []))
  }

  /// An UNSUBSCRIBE while a message of QoS 2 is between PUBLISH and PUBREC.
  fileprivate mutating func deliverAcrossUnsubscribe() {
    subscribe(1, "a")
    suback(1, 2)
    receive(1, qos: 2)
    unsubscribe(2, "a")
    unsuback(2)
    acknowledge(.client, .pubrec, 1)
  }
}
