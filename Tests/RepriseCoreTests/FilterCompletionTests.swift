import Testing

@testable import RepriseCore

/// What can be typed next in an expression.
@Suite struct FilterCompletionTests {
  @Test(arguments: [
    ("PUBA", 4, ["PUBACK"]), ("pubr", 4, ["PUBREC", "PUBREL"]), ("topi", 4, ["topic"]),
    ("qos > 0 a", 1, ["and"]), ("PUBLISH and cli", 3, ["client"]),
    ("from == s", 1, ["server"]), ("from == x", 1, []), ("protocol == mqtt-5", 6, ["mqtt-5.0"]),
    ("topic c", 1, ["contains"]), ("qos c", 1, []), ("not ret", 3, ["retain"]),
    ("type in [PINGR", 5, ["PINGREQ", "PINGRESP"]), ("type in [PUBLISH, CONNE", 5, ["CONNECT"]),
    ("(conna", 5, ["CONNACK"]), ("payload contains \"a", 1, []), ("over != w", 1, ["websocket"]),
    ("code == granted", 7, ["granted-qos-0", "granted-qos-1", "granted-qos-2"]),
    ("code != re-a", 4, ["re-authenticate"]), ("code in [0x87, ban", 3, ["banned"]),
    ("code > ban", 3, []), ("qos == ban", 3, []),
  ])
  func completes(_ text: String, _ replaced: Int, _ words: [String]) {
    let found = FilterCompletion.words(after: text)
    #expect(found.replaced == replaced && found.words == words)
  }

  /// Every completion of a condition is one that the parser takes.
  @Test func offersOnlyWhatCanBeUnderstood() {
    for word in FilterCompletion.words(after: "").words where word != "not" {
      let next = FilterCompletion.words(after: word + " ").words
      #expect(!next.isEmpty, "\(word)")
      guard next != ["and", "or"] else {
        #expect((try? SessionFilter(word)) != nil, "\(word)")
        continue
      }
      for comparison in next where comparison != "in" {
        let values = FilterCompletion.words(after: "\(word) \(comparison) ").words
        let value = values.first ?? (word == "time" ? "+1s" : "1")
        #expect((try? SessionFilter("\(word) \(comparison) \(value)")) != nil, "\(word)")
      }
    }
  }
}
