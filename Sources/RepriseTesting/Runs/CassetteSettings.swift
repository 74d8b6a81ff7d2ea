import Capture
import RepriseCore

/// How a test is recorded and replayed.
struct CassetteSettings: Sendable {
  /// Makes a live client to record from.
  typealias Factory = @Sendable () async throws -> any DataClient

  /// What the code says about recording.
  var mode: RecordingMode
  /// Whose part of a file with several clients is replayed.
  var selection = ReplaySelection.only
  /// How exactly actions have to be those of the recording; nil leaves it to the options.
  var match: ReplayMatch?
  /// What is hidden in recordings, and must not stand in them in clear.
  var redact: RedactionRules
  /// How to replay.
  var options: ReplayOptions
  /// The folder of recordings; nil is `Recordings` beside the test.
  var folder: String?
  /// What the live client talks to, for the header of the recording.
  var url: String?
  /// Makes a live client; nil where there is none.
  var live: Factory?
  /// What is said about the traffic of a capture.
  var input = InputOptions()
}
