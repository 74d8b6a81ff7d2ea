public import RepriseCore
import Testing
public import XCTest

extension XCTestCase {
  /// Runs a body on a recording beside the test, or records it; see ``Cassette`` and ``RecordingMode``.
  ///
  /// ```swift
  /// try await replaying("bind", on: { try MosquittoClient(url: "mqtt://localhost") }) { client in
  ///   try await bindTheAccount(on: client)
  /// }
  /// ```
  ///
  /// What diverges, and what is left out, fails the test: at the line of the call where that stands in the test's file,
  /// otherwise at this one. A recording is written when the test has not failed so far, whole or not at all.
  /// - Parameters:
  ///   - name: The name of the recording, with `/` between folders.
  ///   - selection: Whose part of a capture with several clients is replayed; a recording of a test has one client.
  ///   - mode: Whether to replay or to record, where the environment does not say it.
  ///   - match: How exactly actions have to be those of the recording; nil is as `options` say.
  ///   - redact: What is hidden in the recording, and must not stand in it in clear.
  ///   - options: How to compare, to wait and to tell the time.
  ///   - folder: The folder of the recordings; nil is `Recordings` beside the test's file.
  ///   - url: What the live client talks to, for the recording's first line; without a password.
  ///   - makeClient: Makes the live client to record from.
  ///   - file: The file of the test.
  ///   - line: The line to tell what has no line of its own.
  ///   - body: What is done with the client.
  /// - Throws: What the body throws but for a divergence, which failed the test already; and ``CassetteError``.
  public func replaying(
    _ name: String, of selection: ReplaySelection = .only, mode: RecordingMode = .none,
    match: ReplayMatch? = nil,
    redact: RedactionRules = RedactionRules(), options: ReplayOptions = ReplayOptions(),
    in folder: String? = nil, url: String? = nil,
    on makeClient: (@Sendable () async throws -> any DataClient)? = nil,
    file: StaticString = #filePath, line: Int = #line,
    _ body: (TestClient) async throws -> Void
  ) async throws {
    let settings = CassetteSettings(
      mode: mode, selection: selection, match: match, redact: redact, options: options,
      folder: folder, url: url,
      live: makeClient)
    let place = try RecordingPlace(name, beside: "\(file)", in: folder)
    let run = CassetteRun(
      settings: settings, place: place, mode: try .resolved(mode, Surroundings.environment),
      location: SourceLocation(
        fileID: "XCTest/\(file)", filePath: "\(file)", line: max(1, line), column: 1),
      command:
        "\(RecordingMode.variable)=\(place.exists ? "all" : "once") swift test --filter '\(self.name)'"
    ) { text, line in
      XCTFail(text, file: file, line: UInt(clamping: line))
    }
    try await run.run { client in
      let failures = testRun?.totalFailureCount ?? 0
      do {
        try await body(client)
      } catch let error as DataClientError where error.code == .diverged {
        client.tellDivergence(at: run.location)
        // What failed the test already, at its own line, is not to fail it again.
        guard client.isTold else { throw error }
      }
      if testRun?.totalFailureCount ?? 0 > failures { client.noteFailure() }
    }
  }
}
