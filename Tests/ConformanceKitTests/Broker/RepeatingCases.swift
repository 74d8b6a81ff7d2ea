import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages that are open when a connection ends, and come again in the session that goes on.
  static let repeating: [SharedCase] =
    [
      SharedCase(
        "messages again in the resumed session",
        [
          .repeatsComeWithSession: (0, 2, 0, []), .repeatsHaveDup: (0, 2, 0, []),
          .repeatsKeepOrder: (0, 1, 0, []), .clientRepeatsKeepIdentifier: (0, 2, 0, []),
          .qos1StaysOpen: (0, 2, 0, []),
        ]
      ) {
        $0.resume {
          $0.left()
        } then: {
          for id: UInt16 in 1...2 {
            $0.say(.client, "a", "\(id)", qos: 1, id: id, dup: true)
            $0.acknowledge(.server, .puback, id)
          }
        }
      },
      SharedCase(
        "messages again in the other order", failed: [.repeatsKeepOrder],
        [.repeatsComeWithSession: (0, 2, 0, []), .repeatsKeepOrder: (1, 0, 0, [12])]
      ) {
        $0.resume {
          $0.left()
        } then: {
          for id: UInt16 in [2, 1] {
            $0.say(.client, "a", "\(id)", qos: 1, id: id, dup: true)
            $0.acknowledge(.server, .puback, id)
          }
        }
      },
      SharedCase(
        "a server's messages again in the other order, which 5.0 lets it choose", in: [.v5_0],
        [.repeatsComeWithSession: (0, 2, 0, []), .repeatsKeepOrder: (0, 0, 0, [])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          for id: UInt16 in 1...2 { $0.say(.server, "a", "\(id)", qos: 1, id: id) }
        } then: {
          for id: UInt16 in [2, 1] {
            $0.say(.server, "a", "\(id)", qos: 1, id: id, dup: true)
            $0.acknowledge(.client, .puback, id)
          }
        }
      },
      SharedCase(
        "another message with RETAIN and the identifier of one that is open",
        [.repeatsComeWithSession: (0, 1, 1, [12]), .repeatsHaveDup: (0, 1, 0, [])]
      ) {
        $0.resume {
          $0.left()
        } then: {
          $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
          $0.acknowledge(.server, .puback, 1)
          $0.say(.client, "a", "2", qos: 1, id: 2, retain: true)
          $0.acknowledge(.server, .puback, 2)
        }
      },
      SharedCase(
        "a message again without DUP in the resumed session", failed: [.repeatsHaveDup],
        [.repeatsComeWithSession: (0, 2, 0, []), .repeatsHaveDup: (1, 1, 0, [12])]
      ) {
        $0.resume {
          $0.left()
        } then: {
          $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
          $0.acknowledge(.server, .puback, 1)
          $0.say(.client, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.server, .puback, 2)
        }
      },
      SharedCase(
        "a server's message that does not come again", in: [.v3_1_1],
        failed: [.repeatsComeWithSession], complete: true,
        [.repeatsComeWithSession: (1, 0, 0, [14])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.client, .puback, 2)
          $0.wait(1)
        }
      },
      SharedCase(
        "a server's message that comes again on the connection after the next", in: [.v3_1_1],
        complete: true,
        [.repeatsComeWithSession: (0, 0, 1, [14])]
      ) { $0.postpone(1) },
      SharedCase(
        "a server's message that does not come again, and another one does", in: [.v3_1_1],
        failed: [.repeatsComeWithSession], complete: true,
        [.repeatsComeWithSession: (1, 0, 0, [14])]
      ) { $0.postpone(3) },
      SharedCase(
        "a server's message that does not come again, where two others have sessions of connections not captured",
        in: [.v3_1_1], complete: true,
        [.repeatsComeWithSession: (0, 0, 1, [38]), .absentSessionIsTold: (0, 0, 3, [8, 18, 26])]
      ) {
        $0.comeBackToEnded("x", on: 5)
        $0.comeBackToEnded("y", on: 7)
        $0.forget(isEnded: false)
      },
      SharedCase(
        "a server's message that does not come again, where another one has such a session, twice",
        in: [.v3_1_1], failed: [.repeatsComeWithSession], complete: true,
        [.repeatsComeWithSession: (1, 0, 0, [38]), .absentSessionIsTold: (0, 0, 3, [8, 18, 26])]
      ) {
        $0.comeBackToEnded("x", on: 5)
        $0.comeBackToEnded("x", on: 7)
        $0.forget(isEnded: false)
      },
      SharedCase(
        "a server's message that does not come again, behind the end of another connection by the server",
        in: [.v3_1_1], complete: true, [.repeatsComeWithSession: (0, 0, 1, [18])]
      ) { $0.forget(isEnded: true) },
      SharedCase(
        "a server's message that does not come again, behind the end of another connection by its client",
        in: [.v3_1_1], failed: [.repeatsComeWithSession], complete: true,
        [.repeatsComeWithSession: (1, 0, 0, [18])]
      ) { $0.forget(isEnded: false) },
      SharedCase(
        "a server's message that comes again without DUP, behind the end of another connection by the server",
        [.repeatsHaveDup: (0, 0, 1, [15]), .repeatsComeWithSession: (0, 1, 0, [])]
      ) { $0.forget(isEnded: true, isRepeated: true) },
      SharedCase(
        "a server's message that comes again without DUP, behind the end of another connection by its client",
        failed: [.repeatsHaveDup],
        [.repeatsHaveDup: (1, 0, 0, [15]), .repeatsComeWithSession: (0, 1, 0, [])]
      ) { $0.forget(isEnded: false, isRepeated: true) },
      SharedCase(
        "a session that is there behind one that was clean, and the end of another connection",
        [.absentSessionIsTold: (0, 0, 1, [12])]
      ) {
        $0.on(3) { $0.join("p") }
        $0.join("c")
        $0.finish()
        $0.on(3) { $0.close(.server) }
        $0.on(2) {
          $0.join("c", cleanStart: false, isPresent: true)
          $0.finish()
        }
      },
      SharedCase(
        "a server's message that does not come again in an instant", in: [.v3_1_1],
        [.repeatsComeWithSession: (0, 0, 1, [10])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.client, .puback, 2)
        }
      },
      SharedCase(
        "a server's message that does not come again in three quarters of a second", in: [.v3_1_1],
        [.repeatsComeWithSession: (0, 0, 1, [10])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.client, .puback, 2)
          $0.wait(0.75)
        }
      },
      SharedCase(
        "a server's message of 5.0 that does not come again and may have expired", in: [.v5_0],
        [.repeatsComeWithSession: (0, 0, 1, [10])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.client, .puback, 2)
        }
      },
      SharedCase(
        "a server's message again", [.repeatsComeWithSession: (0, 1, 0, [])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
          $0.acknowledge(.client, .puback, 1)
          $0.say(.server, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.client, .puback, 2)
        }
      },
      SharedCase(
        "a server's message that does not come again on a short connection",
        [.repeatsComeWithSession: (0, 0, 1, [10])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.answerPing()
        }
      },
      SharedCase(
        "a client's message that does not come again, and another one does",
        failed: [.repeatsComeWithSession], [.repeatsComeWithSession: (2, 0, 0, [13, 13])]
      ) {
        $0.resume {
          $0.left()
        } then: {
          $0.say(.client, "a", "3", qos: 1, id: 3)
          $0.acknowledge(.server, .puback, 3)
          $0.wait(1)
        }
      },
      SharedCase(
        "a client's messages that do not come again, behind a new session that it was refused",
        [.repeatsComeWithSession: (0, 0, 0, [])]
      ) {
        $0.leaveOpenAndAsk(cleanStart: true)
      },
      SharedCase(
        "a client's messages that do not come again, behind its session that it was refused",
        failed: [.repeatsComeWithSession], [.repeatsComeWithSession: (2, 0, 0, [17, 17])]
      ) {
        $0.leaveOpenAndAsk(cleanStart: false)
      },
      SharedCase(
        "a client's messages that do not come again, where two others have sessions of connections not captured",
        in: [.v3_1_1], [.repeatsComeWithSession: (0, 0, 2, [33, 33])]
      ) {
        $0.comeBackToEnded("x", on: 5)
        $0.comeBackToEnded("y", on: 7)
        $0.goOn { $0.wait(1) }
      },
      SharedCase(
        "a client's messages that do not come again, and one that it never sent does",
        [.repeatsComeWithSession: (0, 0, 2, [9, 9])]
      ) {
        $0.goOn {
          $0.say(.client, "a", "4", qos: 1, id: 4, dup: true)
          $0.acknowledge(.server, .puback, 4)
          $0.wait(1)
        }
      },
      SharedCase(
        "a client's messages that do not come again, and a PUBREL of one that it never sent does",
        [.repeatsComeWithSession: (0, 0, 2, [9, 9])]
      ) {
        $0.goOn {
          $0.acknowledge(.client, .pubrel, 4)
          $0.acknowledge(.server, .pubcomp, 4)
          $0.wait(1)
        }
      },
      SharedCase(
        "a client's messages that do not come again, and it goes on by an identifier far behind the latest",
        [.repeatsComeWithSession: (0, 0, 2, [9, 9])]
      ) { $0.goOn(by: 19) { $0.wait(1) } },
      SharedCase(
        "a client's messages that do not come again, and it goes on by an identifier a little behind the latest",
        in: [.v3_1_1], failed: [.repeatsComeWithSession],
        [.repeatsComeWithSession: (2, 0, 0, [13, 13])]
      ) { $0.goOn(by: 18) { $0.wait(1) } },
      SharedCase(
        "a client's messages that do not come again, and one that it sent since does twice",
        in: [.v3_1_1], failed: [.repeatsComeWithSession],
        [.repeatsComeWithSession: (2, 0, 0, [14, 14])]
      ) {
        $0.goOn {
          $0.say(.client, "a", "3", qos: 1, id: 3, dup: true)
          $0.wait(1)
        }
      },
      SharedCase(
        "a server's message that does not come again, and one that it never sent does",
        in: [.v3_1_1], [.repeatsComeWithSession: (0, 0, 1, [10])]
      ) {
        $0.resume {
          $0.ask(1, "a")
          $0.say(.server, "a", "1", qos: 1, id: 1)
        } then: {
          $0.say(.server, "a", "2", qos: 1, id: 2, dup: true)
          $0.acknowledge(.client, .puback, 2)
          $0.wait(1)
        }
      },
      SharedCase(
        "a client's messages that may have come again in a gap", in: [.v3_1_1],
        [.repeatsComeWithSession: (0, 0, 2, [9, 9])]
      ) {
        $0.resume {
          $0.left()
        } then: {
          $0.gap(.client)
          $0.say(.client, "a", "3", qos: 1, id: 3)
          $0.acknowledge(.server, .puback, 3)
          $0.wait(1)
        }
      },
      SharedCase(
        "as many messages that don't come again as are kept", in: [.v3_1_1],
        failed: [.repeatsComeWithSession],
        // As many are listed as a report has of one clause.
        [.repeatsComeWithSession: (256, 0, 0, Array(repeating: 267, count: 100))]
      ) { $0.leaveOpen(256) },
      SharedCase(
        "more messages that don't come again than are kept", in: [.v3_1_1],
        [.repeatsComeWithSession: (0, 0, 0, [])]
      ) { $0.leaveOpen(257) },
      SharedCase(
        "a message of QoS 2 again",
        [.repeatsComeWithSession: (0, 1, 0, []), .qos2StaysOpen: (0, 1, 0, [])]
      ) {
        $0.resume {
          $0.say(.client, "a", "1", qos: 2, id: 1)
        } then: {
          $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
          $0.acknowledge(.server, .pubrec, 1)
          $0.acknowledge(.client, .pubrel, 1)
          $0.acknowledge(.server, .pubcomp, 1)
        }
      },
      SharedCase(
        "a clean session that is there", in: [.v3_1_1],
        failed: [.cleanSessionIsNew, .cleanStartIsCarriedOut],
        [.cleanStartIsCarriedOut: (1, 0, 0, [3]), .cleanStartEndsSession: (0, 0, 0, [])]
      ) {
        $0.join("c", isPresent: true)
        $0.finish()
      },
      SharedCase(
        "a clean session of 5.0 that is there", in: [.v5_0],
        failed: [.cleanSessionIsNew, .cleanStartIsCarriedOut, .cleanStartEndsSession],
        [.cleanStartIsCarriedOut: (1, 0, 0, [3]), .cleanStartEndsSession: (1, 0, 0, [3])]
      ) {
        $0.join("c", isPresent: true)
        $0.finish()
      },
      SharedCase(
        "a PUBREL again",
        [
          .repeatsComeWithSession: (0, 1, 0, []), .pubrelStaysOpen: (0, 1, 0, []),
          .nothingAgainBehindPubrel: (0, 1, 0, []),
        ]
      ) {
        $0.resume {
          $0.released()
        } then: {
          $0.acknowledge(.client, .pubrel, 1)
          $0.acknowledge(.server, .pubcomp, 1)
        }
      },
      SharedCase(
        "a PUBREL that does not come behind the PUBREC of the connection before",
        failed: [.repeatsComeWithSession], [.repeatsComeWithSession: (1, 0, 0, [13])]
      ) {
        $0.resume {
          $0.say(.client, "a", "1", qos: 2, id: 1)
          $0.acknowledge(.server, .pubrec, 1)
        } then: {
          $0.say(.client, "a", "2", qos: 1, id: 2)
          $0.acknowledge(.server, .puback, 2)
          $0.wait(2)
        }
      },
      SharedCase(
        "a PUBLISH again though its PUBREL was sent", in: [.v5_0],
        failed: [.nothingAgainBehindPubrel], [.nothingAgainBehindPubrel: (1, 0, 0, [11])]
      ) {
        $0.resume {
          $0.released()
        } then: {
          $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
          $0.acknowledge(.server, .pubrec, 1)
          $0.acknowledge(.client, .pubrel, 1)
          $0.acknowledge(.server, .pubcomp, 1)
        }
      },
    ]
}

extension Script {
  /// A connection that breaks, and one that resumes its session.
  fileprivate mutating func resume(
    _ first: (inout Script) -> Void, then second: (inout Script) -> Void
  ) {
    join("c", cleanStart: false)
    first(&self)
    close(.client)
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true)
      second(&$0)
      $0.finish()
    }
  }

  /// A client comes back to a session in which a message is open, and gets it again without DUP or another one, behind the
  /// end of a connection of another client.
  fileprivate mutating func forget(isEnded: Bool, isRepeated: Bool = false) {
    on(3) { $0.join("p") }
    join("c", cleanStart: false, expiry: 100)
    ask(1, "a")
    say(.server, "a", "1", qos: 1, id: 1)
    close(.client)
    on(3) { $0.close(isEnded ? .server : .client) }
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true, expiry: 100)
      let id: UInt16 = isRepeated ? 1 : 2
      $0.say(.server, "a", "\(id)", qos: 1, id: id)
      $0.acknowledge(.client, .puback, id)
      $0.wait(1)
      $0.finish()
    }
  }

  /// A client leaves messages open, and sends another one in the session that goes on.
  fileprivate mutating func leaveOpen(_ count: UInt16) {
    resume {
      for id in 1...count { $0.say(.client, "a", "\(id)", qos: 1, id: id) }
    } then: {
      $0.say(.client, "a", "another one", qos: 1, id: count + 1)
      $0.acknowledge(.server, .puback, count + 1)
      $0.wait(1)
    }
  }

  /// A client leaves two messages open, is refused, and sends a third one in the session that goes on.
  fileprivate mutating func leaveOpenAndAsk(cleanStart: Bool) {
    join("c", cleanStart: false, expiry: 100)
    left()
    close(.client)
    on(2) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: cleanStart, keepAlive: 0)))
      $0.server(.connack(.init(code: $0.told == .v5_0 ? 0x88 : 3)))
      $0.close(.server)
    }
    on(3) {
      $0.join("c", cleanStart: false, isPresent: true, expiry: 100)
      $0.say(.client, "a", "3", qos: 1, id: 3)
      $0.acknowledge(.server, .puback, 3)
      $0.wait(2)
      $0.finish()
    }
  }

  /// A client leaves two messages open, sends a third one in the session that goes on, and does something else.
  fileprivate mutating func goOn(by id: UInt16 = 3, _ more: (inout Script) -> Void) {
    resume {
      $0.left()
    } then: {
      $0.say(.client, "a", "3", qos: 1, id: id)
      $0.acknowledge(.server, .puback, id)
      more(&$0)
    }
  }

  /// A client whose session ended is told long after that it is there: connections of that number and the next.
  fileprivate mutating func comeBackToEnded(_ client: String, on connection: Int) {
    on(connection) {
      $0.join(client)
      $0.finish()
    }
    wait(10)
    on(connection + 1) {
      $0.join(client, cleanStart: false, isPresent: true)
      $0.finish()
    }
    wait(10)
  }

  /// A server goes on with a new message where one is open, and sends one again on the next connection.
  fileprivate mutating func postpone(_ id: UInt16) {
    resume {
      $0.ask(1, "a")
      $0.say(.server, "a", "1", qos: 1, id: 1)
    } then: {
      $0.say(.server, "a", "2", qos: 1, id: 2)
      $0.acknowledge(.client, .puback, 2)
      $0.wait(1)
    }
    on(3) {
      $0.join("c", cleanStart: false, isPresent: true)
      $0.say(.server, "a", "\(id)", qos: 1, id: id, dup: true)
      $0.acknowledge(.client, .puback, id)
      $0.finish()
    }
  }

  /// The client sends two messages: two frames.
  fileprivate mutating func left() {
    for id: UInt16 in 1...2 { say(.client, "a", "\(id)", qos: 1, id: id) }
  }

  /// The client sends a message up to its PUBREL: three frames.
  fileprivate mutating func released() {
    say(.client, "a", "1", qos: 2, id: 1)
    acknowledge(.server, .pubrec, 1)
    acknowledge(.client, .pubrel, 1)
  }
}
