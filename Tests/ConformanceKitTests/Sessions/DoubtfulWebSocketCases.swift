import RepriseCore
import Wire

extension WholeCase {
  /// What looks like the fault of a receiver of frames, and near it what is one.
  static let doubtfulFrames: [WholeCase] =
    unfinishedTexts + extensionParameters + repeatedPings + lateFrames + lostEnds

  // MARK: Text in fragments

  /// A fragment with the byte FF of the server, which a Ping follows.
  private static func unfinished(
    _ name: String, isAccused: Bool = false, _ count: (Int, Int, Int, [Int]),
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let accused = isAccused ? ["RFC6455-8.1-1"] : []
    return WholeCase(
      name, failed: ["RFC6455-5.6-1"] + accused, ["RFC6455-8.1-1": count]
    ) {
      $0.upgrade()
      $0.frame(.server, .text, [0xFF], isFinal: false)
      $0.frame(.server, .ping, [1])
      rest(&$0)
    }
  }

  private static let unfinishedTexts: [WholeCase] = [
    unfinished("the client looks at the text of the whole message", (0, 1, 0, [])) {
      $0.frame(.client, .pong, [1])
      $0.frame(.server, .continuation, [0x61])
      $0.closeFrame(.client, 1_007)
      $0.close(.client)
    },
    unfinished("the client looks at the text of each fragment", (0, 1, 0, [])) {
      $0.closeFrame(.client, 1_007)
      $0.close(.client)
    },
    unfinished("the client sends while the message goes on", (0, 1, 0, [])) {
      $0.text(.client)
      $0.frame(.server, .continuation, [0x61])
      $0.closeFrame(.client, 1_007)
      $0.close(.client)
    },
    unfinished("the client sends behind the message", (0, 0, 1, [4])) {
      $0.frame(.server, .continuation, [0x61])
      $0.text(.client)
      $0.closeFrame(.client, 1_002)
      $0.close(.client)
    },
    unfinished("the client sends behind the message, and says what was wrong", (0, 1, 0, [])) {
      $0.frame(.server, .continuation, [0x61])
      $0.text(.client)
      $0.closeFrame(.client, 1_007)
      $0.close(.client)
    },
    unfinished(
      "the client answers a Ping behind the message, and goes on", isAccused: true,
      (1, 0, 0, [9])
    ) {
      $0.frame(.server, .continuation, [0x61])
      $0.wait(1)
      $0.frame(.server, .ping, [2])
      $0.frame(.client, .pong, [2])
      $0.text(.client)
      $0.finishWebSocket()
    },
    unfinished("the message is never over", (0, 0, 1, [4])) {
      $0.frame(.client, .pong, [1])
      $0.wait(31)
      $0.frame(.server, .ping, [2])
      $0.frame(.client, .pong, [2])
      $0.closeFrame(.server)
      $0.close(.server)
    },
  ]

  // MARK: Extensions

  private static let extensionParameters: [WholeCase] = [
    WholeCase(
      "the parameters of an offered extension answer no offer", failed: ["RFC6455-9-2"],
      [
        "RFC6455-4.1-21": (0, 0, 0, []), "RFC6455-4.2.2-7": (0, 1, 0, []),
        "RFC6455-9-1": (0, 1, 0, []),
      ]
    ) {
      $0.upgrade(
        offering: "permessage-deflate; server_no_context_takeover",
        accepting: "permessage-deflate")
      $0.wait(1)
      $0.frame(.server, .ping, [1])
      $0.frame(.client, .pong, [1])
      $0.finishWebSocket()
    },
    WholeCase(
      "another extension was offered",
      failed: ["RFC6455-4.1-21", "RFC6455-4.2.2-7", "RFC6455-9-1"],
      ["RFC6455-4.1-21": (1, 0, 0, [5]), "RFC6455-4.2.2-7": (1, 0, 0, [3])]
    ) {
      $0.upgrade(offering: "bbf-usp-protocol", accepting: "permessage-deflate")
      $0.wait(1)
      $0.frame(.server, .ping, [1])
      $0.frame(.client, .pong, [1])
      $0.finishWebSocket()
    },
  ]

  // MARK: Pings

  /// A frame with RSV2 between Pings of the client, of which the later ones come a second behind it.
  private static func reserved(
    _ name: String, isAccused: Bool = false, _ count: (Int, Int, Int, [Int]),
    before: @escaping @Sendable (inout Script) -> Void = { _ in },
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let accused = isAccused ? ["RFC6455-5.2-2"] : []
    return WholeCase(
      name, failed: ["RFC6455-5.2-1"] + accused + ["RFC6455-5.8-1"], ["RFC6455-5.2-2": count]
    ) {
      $0.upgrade()
      before(&$0)
      $0.frame(.client, .binary, [1], rsv: 0b010)
      $0.wait(1)
      rest(&$0)
      $0.closeFrame(.server, 1_002)
      $0.close(.server)
    }
  }

  private static let repeatedPings: [WholeCase] = [
    reserved(
      "two empty Pings, and the Pong for the second comes last", (0, 1, 0, []),
      before: {
        $0.frame(.client, .ping)
        $0.frame(.client, .ping)
        $0.frame(.server, .pong)
      }
    ) {
      $0.frame(.client, .ping)
      $0.frame(.server, .pong)
    },
    reserved("an empty Pong that nobody may have asked for", (0, 1, 0, [])) {
      $0.frame(.client, .ping)
      $0.frame(.server, .pong)
    },
    reserved(
      "a Ping with the data of one that is open", (0, 1, 0, []),
      before: { $0.frame(.client, .ping, [1]) }
    ) {
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
    },
    reserved(
      "a Ping with other data than that", isAccused: true, (1, 0, 0, [7]),
      before: { $0.frame(.client, .ping, [1]) }
    ) {
      $0.frame(.client, .ping, [2])
      $0.frame(.server, .pong, [2])
    },
    reserved(
      "a Ping with other data, behind one with the same", isAccused: true, (1, 0, 0, [8]),
      before: { $0.frame(.client, .ping, [1]) }
    ) {
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .ping, [2])
      $0.frame(.server, .pong, [2])
    },
    WholeCase(
      "a bad Ping with the data of one that is open", failed: ["RFC6455-5.2-1", "RFC6455-5.8-1"],
      ["RFC6455-5.2-2": (0, 1, 0, [])]
    ) {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .ping, [1], rsv: 0b010)
      $0.frame(.server, .pong, [1])
      $0.closeFrame(.server, 1_002)
      $0.close(.server)
    },
    WholeCase(
      "a bad Ping with data of its own",
      failed: ["RFC6455-5.2-1", "RFC6455-5.2-2", "RFC6455-5.8-1"],
      ["RFC6455-5.2-2": (1, 0, 0, [6])]
    ) {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .ping, [2], rsv: 0b010)
      $0.frame(.server, .pong, [2])
      $0.closeFrame(.server, 1_002)
      $0.close(.server)
    },
    reserved(
      "a Ping behind lost bytes of the client", (0, 1, 0, []), before: { $0.gap(.client) }
    ) {
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
    },
    reserved(
      "a Ping behind lost bytes of the server", (0, 1, 0, []), before: { $0.gap(.server) }
    ) {
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
    },
    WholeCase(
      "a Ping on a connection that began before the capture", failed: ["RFC6455-5.6-1"],
      ["RFC6455-8.1-1": (0, 1, 0, [])]
    ) {
      $0.joinWebSocket()
      $0.text(.client)
      $0.frame(.client, .text, [0xFF])
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
      $0.closeFrame(.server, 1_007)
      $0.close(.server)
    },
  ]

  // MARK: Late

  private static let lateFrames: [WholeCase] = [
    reserved("text of the server at 31 s", (0, 0, 1, [4])) {
      $0.wait(30)
      $0.text(.server)
    },
    reserved("a Ping of the server at 31 s", (0, 0, 1, [4])) {
      $0.wait(30)
      $0.frame(.server, .ping)
    },
    reserved("a Ping of the server at 29 s", (0, 1, 0, [])) {
      $0.wait(28)
      $0.frame(.server, .ping)
    },
    reserved("a Pong of the server at 31 s", isAccused: true, (1, 0, 0, [6])) {
      $0.frame(.client, .ping, [1])
      $0.wait(30)
      $0.frame(.server, .pong, [1])
    },
  ]

  // MARK: The end

  /// Both Close frames, and a reset of the client after a minute.
  private static func ended(
    _ name: String, failed: [String] = [], _ count: (Int, Int, Int, [Int]),
    before: @escaping @Sendable (inout Script) -> Void = { _ in },
    after: @escaping @Sendable (inout Script) -> Void = { _ in }
  ) -> WholeCase {
    WholeCase(name, failed: failed, ["RFC6455-5.5.1-6": count]) {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      before(&$0)
      $0.wait(60)
      $0.close(.client, .reset)
      after(&$0)
    }
  }

  private static let lostEnds: [WholeCase] = [
    ended(
      "the server does not close behind both Close frames", failed: ["RFC6455-5.5.1-6"],
      (1, 0, 0, [6])),
    ended("its FIN may be among lost bytes", (0, 0, 1, [7]), before: { $0.gap(.server) }),
    ended("its FIN may have come before the reset", (0, 0, 1, [6]), after: { $0.doubtOrder() }),
  ]
}
