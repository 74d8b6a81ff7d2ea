import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Subscription Identifiers.
  static let numbering: [SharedCase] = [
    SharedCase(
      "the number of the filter that matches", in: [.v5_0],
      [.numbersAreOfSubscriptions: (0, 1, 0, []), .overlapsAreNumbered: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.part(alone: true)
    },
    SharedCase(
      "a number that was never given", in: [.v5_0], failed: [.numbersAreOfSubscriptions],
      [.numbersAreOfSubscriptions: (1, 0, 0, [6])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.say(.server, "a", "1", Self.numbers(2))
      $0.part(alone: true)
    },
    SharedCase(
      "a number that was never given, in a session that goes on", in: [.v5_0],
      [.numbersAreOfSubscriptions: (0, 1, 1, [13])]
    ) {
      $0.goOnNumbered {
        $0.say(.server, "a", "1", Self.numbers(1))
        $0.say(.server, "a", "2", Self.numbers(3))
      }
    },
    SharedCase(
      "no number though both filters have one, in a session that goes on", in: [.v5_0],
      [.overlapsAreNumbered: (0, 1, 1, [13])]
    ) {
      $0.goOnNumbered {
        $0.say(.server, "a", "1", Self.numbers(1))
        $0.say(.server, "a", "2")
      }
    },
    SharedCase(
      "the number of a filter that does not match", in: [.v5_0],
      failed: [.numbersAreOfSubscriptions], [.numbersAreOfSubscriptions: (1, 0, 0, [8])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "b")
      $0.say(.server, "a", "1", Self.numbers(2))
      $0.part(alone: true)
    },
    SharedCase(
      "the number that a filter had before", in: [.v5_0],
      [.numbersAreOfSubscriptions: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "a")
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.part(alone: true)
    },
    SharedCase(
      "a number that was never given, where a filter changed its own", in: [.v5_0],
      failed: [.numbersAreOfSubscriptions], [.numbersAreOfSubscriptions: (1, 1, 0, [8])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "a")
      $0.say(.server, "a", "1", Self.numbers(3))
      $0.say(.server, "a", "2", Self.numbers(2))
      $0.part(alone: true)
    },
    SharedCase(
      "no number though both filters have one", in: [.v5_0], failed: [.overlapsAreNumbered],
      complete: true,
      [.overlapsAreNumbered: (1, 1, 0, [9])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "+")
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.say(.server, "a", "2")
      $0.part(alone: true)
    },
    SharedCase(
      "one number for two copies, and another for another message", in: [.v5_0],
      [.copiesHaveOwnNumbers: (0, 0, 0, []), .overlapsAreNumbered: (0, 3, 0, [])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "+")
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.say(.server, "a", "2", Self.numbers(2))
      $0.part(alone: true)
    },
    SharedCase(
      "two numbers for two copies, and another message between them", in: [.v5_0],
      [.copiesHaveOwnNumbers: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.number(2, "+")
      $0.say(.server, "a", "1", Self.numbers(1))
      $0.say(.server, "b", "2", Self.numbers(2))
      $0.say(.server, "a", "1", Self.numbers(2))
      $0.part(alone: true)
    },
    SharedCase(
      "no number where one of both filters has none", in: [.v5_0],
      [.overlapsAreNumbered: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.number(1, "a")
      $0.ask(2, "+")
      $0.say(.server, "a", "1")
      $0.part(alone: true)
    },
    SharedCase(
      "two numbers though three filters match", in: [.v5_0], failed: [.mergedCopyHasAllNumbers],
      [.mergedCopyHasAllNumbers: (1, 1, 0, [14])]
    ) {
      $0.threeFilters()
      $0.say(.server, "a", "1", Self.numbers(1, 2))
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2", Self.numbers(1, 2, 3))
      $0.part()
    },
    SharedCase(
      "two numbers and the third one in two copies for three filters", in: [.v5_0],
      [.mergedCopyHasAllNumbers: (0, 1, 0, [])]
    ) {
      $0.threeFilters()
      $0.say(.server, "a", "1", Self.numbers(1, 2))
      $0.say(.server, "a", "1", Self.numbers(3))
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2", Self.numbers(1, 2, 3))
      $0.part()
    },
    SharedCase(
      "three numbers for three filters", in: [.v5_0], [.mergedCopyHasAllNumbers: (0, 1, 0, [])]
    ) {
      $0.threeFilters()
      $0.say(.server, "a", "1", Self.numbers(3, 1, 2))
      $0.part()
    },
    SharedCase(
      "no number for the one filter that matches", in: [.v5_0],
      failed: [.mergedCopyHasAllNumbers],
      [.mergedCopyHasAllNumbers: (1, 1, 0, [10]), .overlapsAreNumbered: (0, 0, 0, [])]
    ) { $0.oneFilter(answeredBy: []) },
    SharedCase(
      "its number for the one filter that matches", in: [.v5_0],
      [.mergedCopyHasAllNumbers: (0, 2, 0, [])]
    ) { $0.oneFilter(answeredBy: [1]) },
    SharedCase(
      "no number for the one filter that matches, by a server that takes none", in: [.v5_0],
      [.mergedCopyHasAllNumbers: (0, 1, 1, [10])]
    ) { $0.oneFilter([.number(.subscriptionIdentifierAvailable, 0)], answeredBy: []) },
    SharedCase(
      "no number for a filter that had none at first", in: [.v5_0],
      [.mergedCopyHasAllNumbers: (0, 0, 0, [])]
    ) { $0.oneFilter(isFirstPlain: true, answeredBy: []) },
    SharedCase(
      "no numbers for two filters, by a server that takes none", in: [.v5_0],
      [.overlapsAreNumbered: (0, 1, 1, [12])]
    ) {
      $0.oneFilter(
        [.number(.subscriptionIdentifierAvailable, 0)], besides: "+", answeredBy: [])
    },
    SharedCase(
      "one number for each of three copies", in: [.v5_0],
      [
        .mergedCopyHasAllNumbers: (0, 0, 0, []), .overlapsAreNumbered: (0, 3, 0, []),
        .copiesHaveOwnNumbers: (0, 2, 0, []),
      ]
    ) {
      $0.threeFilters()
      for number in 1...3 { $0.say(.server, "a", "1", Self.numbers(number)) }
      $0.part()
    },
  ]

  static func numbers(_ numbers: Int...) -> [MQTTProperty] {
    numbers.map { .number(.subscriptionIdentifier, $0) }
  }
}

extension Script {
  /// The client subscribes with a number: two frames.
  mutating func number(_ number: Int, _ filter: String) {
    client(
      .subscribe(
        packetID: UInt16(number), [.init(filter, options: 0)],
        [.number(.subscriptionIdentifier, number)]))
    suback(UInt16(number), 0)
  }

  /// A client with three filters that have numbers, and a message for all of them: frames 1 to 13.
  fileprivate mutating func threeFilters() {
    join("s")
    number(1, "a")
    number(2, "+")
    number(3, "#")
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "1")
    }
  }

  /// A client with a filter that has a number, perhaps since it was asked for again, a message for it, and another
  /// one that comes with the number.
  fileprivate mutating func oneFilter(
    _ abilities: [MQTTProperty] = [], isFirstPlain: Bool = false, besides other: String? = nil,
    answeredBy numbers: [Int]
  ) {
    open()
    client(.connect(.init(clientID: "s", keepAlive: 0)))
    server(.connack(.init(properties: abilities)))
    if isFirstPlain { ask(9, "a") }
    number(1, "a")
    if let other { number(2, other) }
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "1")
    }
    say(.server, "a", "1", numbers.map { .number(.subscriptionIdentifier, $0) })
    on(2) { $0.say(.client, "a", "2") }
    say(.server, "a", "2", SharedCase.numbers(1))
    part()
  }

  /// A client with two filters that have numbers, which comes back to its session.
  fileprivate mutating func goOnNumbered(_ body: (inout Script) -> Void) {
    join("s", cleanStart: false, expiry: 100)
    number(1, "a")
    number(2, "+")
    close(.client)
    on(2) {
      $0.join("s", cleanStart: false, isPresent: true, expiry: 100)
      body(&$0)
      $0.finish()
    }
  }
}
