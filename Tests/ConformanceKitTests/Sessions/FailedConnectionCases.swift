import RepriseCore
import Wire

extension WholeCase {
  /// Ends that fail a connection by a Close frame, and what they do then.
  static let failedConnections: [WholeCase] =
    [Peer.server, .client].flatMap { peer in
      let asker = peer.other
      return [
        failed("answers a PING of a second later", by: peer, open: kept, read: (1, 0, 0, [7])) {
          $0.ask(asker, after: 1)
          $0.frame(peer, .pong, [1])
          $0.close(peer)
        },
        failed("answers a PING of less than a second later", by: peer, open: kept, read: none) {
          $0.ask(asker, after: 0.998)
          $0.frame(peer, .pong, [1])
          $0.close(peer)
        },
        failed(
          "answers a PING of half a minute later", by: peer, others: unanswered,
          open: (1, 0, 0, [7]),
          read: (1, 0, 0, [7])
        ) {
          $0.ask(asker, after: 30)
          $0.frame(peer, .pong, [1])
          $0.close(peer)
        },
        failed(
          "answers a PING of less than half a minute later", by: peer, open: kept,
          read: (1, 0, 0, [7])
        ) {
          $0.ask(asker, after: 29.99)
          $0.frame(peer, .pong, [1])
          $0.close(peer)
        },
        failed(
          "answers the second PING, which came late", by: peer, others: unanswered,
          open: (1, 0, 0, [8]),
          read: (1, 0, 0, [8])
        ) {
          $0.ask(asker, after: 1)
          $0.ask(asker, after: 30, [2])
          $0.frame(peer, .pong, [2])
          $0.close(peer)
        },
        failed("answers no PING", by: peer, open: kept, read: kept) {
          $0.ask(asker, after: 1)
          $0.close(peer)
        },
        failed("sends a PONG that nobody asked for", by: peer, open: kept, read: kept) {
          $0.ask(asker, after: 1)
          $0.frame(peer, .pong, [2])
          $0.close(peer)
        },
        failed("gets no PING", by: peer, open: kept, read: none) { $0.close(peer) },
        failed(
          "ends it late", by: peer, others: unanswered, open: (0, 0, 1, [5]), read: (0, 0, 1, [5])
        ) {
          $0.ask(asker, after: 31)
          $0.close(peer)
        },
        failed("is left first", by: peer, open: (0, 0, 1, [5]), read: (0, 0, 1, [5])) {
          $0.ask(asker, after: 1)
          $0.close(asker)
        },
        failed("is seen no longer", by: peer, open: (0, 0, 1, [5]), read: (0, 0, 1, [5])) {
          $0.ask(asker, after: 1)
          $0.endCapture()
        },
        failed("is missing", by: peer, open: (0, 0, 1, [5]), read: (0, 0, 1, [5])) {
          $0.ask(asker, after: 1)
          $0.gap(peer)
          $0.close(peer)
        },
        failed("says that all is well", by: peer, code: 1_000, open: none, read: none) {
          $0.ask(asker, after: 1)
          $0.frame(peer, .pong, [1])
          $0.close(peer)
        },
      ]
    } + [
      WholeCase(
        "a server that has failed the connection answers what a PING in front of that held",
        failed: bad, ["RFC6455-7.1.7-1": kept, "RFC6455-7.1.7-2": none]
      ) {
        $0.upgrade()
        $0.frame(.client, .ping, [1])
        $0.frame(.client, .binary, [1], rsv: 0b010)
        $0.closeFrame(.server, 1_002)
        $0.ask(.client, after: 1)
        $0.frame(.server, .pong, [1])
        $0.close(.server)
      },
      WholeCase(
        "a server answers a PING behind its CLOSE 1002, and nothing was wrong", failed: [],
        ["RFC6455-7.1.7-1": none, "RFC6455-7.1.7-2": none]
      ) {
        $0.upgrade()
        $0.closeFrame(.server, 1_002)
        $0.ask(.client, after: 1)
        $0.frame(.server, .pong, [1])
        $0.close(.server)
      },
      WholeCase(
        "a server answers a PING behind its CLOSE 1002 to what it need not fail",
        failed: ["RFC6455-5.4-3", "RFC6455-6.1-2"],
        ["RFC6455-7.1.7-1": none, "RFC6455-7.1.7-2": none]
      ) {
        $0.upgrade()
        $0.frame(.client, .continuation, [2])
        $0.closeFrame(.server, 1_002)
        $0.ask(.client, after: 1)
        $0.frame(.server, .pong, [1])
        $0.close(.server)
      },
      WholeCase(
        "a server fails the connection without a word", failed: bad,
        ["RFC6455-7.1.7-1": kept, "RFC6455-7.1.7-2": none]
      ) {
        $0.upgrade()
        $0.frame(.client, .binary, [1], rsv: 0b010)
        $0.close(.server)
      },
      WholeCase(
        "a client says by code 1002 that it fails the connection, and reads on",
        failed: ["RFC6455-4.2.2-11", "RFC6455-7.1.7-2"],
        ["RFC6455-7.1.7-1": kept, "RFC6455-7.1.7-2": (1, 0, 0, [6])]
      ) {
        $0.ask()
        $0.answer { $0.set("Sec-WebSocket-Accept", "AAAA") }
        $0.closeFrame(.client, 1_002)
        $0.ask(.server, after: 1)
        $0.frame(.client, .pong, [1])
        $0.close(.client)
      },
    ]

  private static let kept = (0, 1, 0, [Int]())
  private static let none = (0, 0, 0, [Int]())
  /// The other end goes on for so long without a CLOSE frame of its own.
  private static let unanswered = ["RFC6455-5.5.1-4"]
  /// What breaks in a frame with RSV2.
  private static let bad = ["RFC6455-5.2-1", "RFC6455-5.8-1"]

  /// An end that gets a frame with RSV2, and sends a Close frame: frame 5.
  private static func failed(
    _ name: String, by peer: Peer, code: UInt16 = 1_002, others: [String] = [],
    open: (Int, Int, Int, [Int]), read: (Int, Int, Int, [Int]),
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let broken = [("RFC6455-7.1.7-1", open), ("RFC6455-7.1.7-2", read)].filter { $0.1.0 > 0 }
    return WholeCase(
      "a \(peer.rawValue) that sends CLOSE \(code) behind RSV2 \(name)",
      // In the catalogue's order, which that of these identifiers is.
      failed: (bad + others + broken.map(\.0)).sorted(),
      ["RFC6455-7.1.7-1": open, "RFC6455-7.1.7-2": read]
    ) {
      $0.upgrade()
      $0.frame(peer.other, .binary, [1], rsv: 0b010)
      $0.closeFrame(peer, code)
      rest(&$0)
    }
  }
}

extension Script {
  /// A Ping after a time.
  fileprivate mutating func ask(_ asker: Peer, after seconds: Double, _ data: [UInt8] = [1]) {
    wait(seconds)
    frame(asker, .ping, data)
  }
}
