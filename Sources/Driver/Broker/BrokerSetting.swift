/// What all cases of a run against a broker have in common.
struct BrokerSetting {
  /// Where the broker is.
  let place: BrokerPlace
  /// What the identifiers of all clients begin with: that of this run alone.
  let prefix: String
  /// The first level of all topics.
  let firstLevel = "reprise"
  /// What writes recordings, with its version.
  let application: String
  private let run: String

  /// Makes the setting of a run.
  /// - Parameters:
  ///   - place: Where the broker is.
  ///   - run: What tells this run from others, eight letters and digits.
  ///   - application: What writes recordings, with its version.
  init(_ place: BrokerPlace, run: String, application: String) {
    self.place = place
    prefix = "rp" + run
    self.run = run
    self.application = application
  }

  /// The same of another broker.
  func at(_ place: BrokerPlace) -> BrokerSetting {
    BrokerSetting(place, run: run, application: application)
  }

  /// What all topics of this run begin with.
  var topicPrefix: String { "\(firstLevel)/\(run)/" }

  /// What the topics of one case begin with, behind their first level: a filter may have a wildcard in its place.
  func topicTail(of plan: CasePlan) -> String { "\(run)/\(plan.topicLevel)" }

  /// What a client of a case calls itself: 16 to 23 letters and digits, which every server takes (MQTT 5.0 section
  /// 3.1.3.1), and which are seen to be made up.
  func clientID(of name: String, in index: Int) -> String {
    let number = String(max(0, index), radix: 36)
    let zeros = String(repeating: "0", count: max(0, 5 - number.count))
    let letters = name.utf8.filter { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        true
      default: false
      }
    }
    return prefix + zeros + number + String(decoding: letters.prefix(8), as: UTF8.self)
  }
}
