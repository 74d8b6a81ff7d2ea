/// Whether a test replays its recording, or makes it.
///
/// | mode | there is no recording | there is one | the test does something else than the recording |
/// |---|---|---|---|
/// | ``none`` | fails | is replayed | fails |
/// | ``once`` | is made | is replayed | fails |
/// | ``new`` | is made | is replayed | runs again on the live client, and the recording is replaced |
/// | ``all`` | is made | is replaced | – |
/// | ``verify`` | fails | stays; the test runs on the live client | fails, also when the server does |
///
/// The environment variable `REPRISE_RECORD` names a mode and stands above what the code says. Where it is not set and
/// `CI` is (to anything but `false` and `0`), the mode is ``none`` whatever the code says: a server of continuous
/// integration records nothing that nobody looks at.
///
/// A capture can't be made by a test, and so ``all`` replays the one that there is. Where no live client is named, ``new``
/// replays what there is. What ``verify`` compares is what was done, in whatever
/// order, and what the server said on each topic and to each request; how often something is done that goes by time may
/// differ by itself.
///
/// A recording is a session with an order, and its messages answer one another. So it is made anew as a whole: there
/// is no mode that adds to one.
public enum RecordingMode: String, Sendable, Hashable, CaseIterable {
  /// Replay, and never reach for a server: the mode where nothing else is said.
  case none
  /// Record where there is no recording, and replay otherwise.
  case once
  /// Record where there is no recording, or where the test does something else than it has.
  case new
  /// Record, in the place of what is there.
  case all
  /// Run on the live client and compare with the recording, which stays as it is.
  case verify
}

extension RecordingMode {
  /// The variable that names a mode.
  static let variable = "REPRISE_RECORD"

  /// Returns the mode that counts.
  /// - Parameters:
  ///   - code: What the code says.
  ///   - environment: The variables of the process.
  /// - Returns: The mode.
  /// - Throws: ``CassetteError`` when the environment names none.
  static func resolved(
    _ code: RecordingMode, _ environment: [String: String]
  ) throws(CassetteError) -> RecordingMode {
    if let name = environment[variable], !name.isEmpty {
      guard let mode = RecordingMode(rawValue: name) else {
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw CassetteError(
          .unknownMode, "\(variable): \"\(name)\" is no mode of recording; it is one of \(names)")
      }
      return mode
    }
    switch environment["CI"]?.lowercased() {
    case nil, "", "0", "false": return code
    default: return .none
    }
  }
}
