import RepriseCore

/// What all cases of a run have in common.
struct CaseSetting {
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
  ///   - run: What tells this run from others, a few letters and digits.
  ///   - application: What writes recordings, with its version.
  init(_ place: BrokerPlace, run: String, application: String) {
    self.place = place
    prefix = "rp" + run
    self.run = run
    self.application = application
  }

  /// What all topics of this run begin with.
  var topicPrefix: String { "\(firstLevel)/\(run)/" }

  /// What the topics of one case begin with, behind their first level: a filter may have a wildcard in its place.
  func topicTail(of index: Int) -> String { "\(run)/\(Self.word(index))" }

  /// A number as a word of letters and digits, as short as it can be.
  static func word(_ number: Int) -> String { String(max(0, number), radix: 36) }
}
