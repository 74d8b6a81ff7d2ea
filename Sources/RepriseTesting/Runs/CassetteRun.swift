import RepriseCore
import Testing

/// One test, or one case of it, on its recording.
struct CassetteRun: Sendable {
  let settings: CassetteSettings
  let place: RecordingPlace
  let mode: RecordingMode
  /// Where the test stands.
  let location: SourceLocation
  /// How to make the recording, as it is typed.
  let command: String
  /// Takes what fails a test that is none of Swift Testing.
  var fail: RunReporter.Failing?

  /// Runs a body on the recording, or records it.
  /// - Parameter body: What is done with the client; by mode ``RecordingMode/new`` perhaps twice.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, and what is wrong with the recording.
  func run<Result>(_ body: (TestClient) async throws -> Result) async throws -> Result {
    switch (mode, place.exists) {
    case (.none, true), (.once, true): return try await replay(body)
    // A test can't make a capture anew; where all recordings are, it stays as it is.
    case (.all, true) where !place.isRecording: return try await replay(body)
    case (.none, false), (.verify, false): throw missing
    case (.once, false), (.new, false), (.all, _): return try await record(body)
    case (.new, true):
      guard settings.live != nil else { return try await replay(body) }
      if let result = try await replayUnlessItDiverges(body) { return result }
      return try await record(body)
    case (.verify, true): return try await verify(body)
    }
  }

  private var missing: CassetteError {
    CassetteError(
      .noRecording, "\(place.path): there is no such recording; make it by \(command)")
  }

  // MARK: Replay

  private func replay<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> Result {
    let client = try TestClient(
      replaying: try CassetteFile.replay(place.path, settings), reporter(), settings)
    let start = ContinuousClock.now
    do {
      let result = try await body(client)
      try client.finish(at: location)
      return result
    } catch {
      // What ends a test that takes too long says nothing of why it does.
      if TestTimeLimit.isExceeded(since: start) {
        client.replay?.giveUp(because: TestTimeLimit.reason)
      }
      client.tellDivergence(at: location)
      // Tasks that the app left behind wait for nothing any more.
      try? client.replay?.finish()
      throw error
    }
  }

  /// Replays, and keeps what diverges to itself.
  /// - Returns: What the body returns; nil when the test does something else than the recording has.
  private func replayUnlessItDiverges<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> Result? {
    let replay = try CassetteFile.replay(place.path, settings)
    let client = try TestClient(replaying: replay, reporter(isTentative: true), settings)
    do {
      let result = try await body(client)
      try? replay.finish()
      if replay.divergence == nil { return result }
    } catch {
      if replay.divergence == nil { throw error }
    }
    return nil
  }

  private func reporter(isTentative: Bool = false) -> RunReporter {
    RunReporter(
      location: location, recording: place.path, command: command, isTentative: isTentative,
      fail: fail)
  }

  // MARK: Recording

  private func record<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> Result {
    guard place.isRecording else {
      throw CassetteError(
        .badName,
        "\(place.path): a capture can't be recorded by a test; name a recording, without .pcap")
    }
    try CassetteFile.claim(place.path)
    defer { CassetteFile.release(place.path) }
    let (result, client) = try await runLive(body)
    guard client.failures == 0 else {
      reporter().warn("\(nothingRecorded), as the test failed")
      return result
    }
    try CassetteFile.write(try client.finishRecording(), to: place.path)
    return result
  }

  private var nothingRecorded: String {
    "\(place.path): nothing was recorded\(place.exists ? ", and the file is as it was" : "")"
  }

  /// Runs a body on the live client.
  func runLive<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> (Result, TestClient) {
    guard let live = settings.live else {
      throw CassetteError(
        .noLiveClient,
        "\(place.path): there is no live client to \(mode == .verify ? "run on" : "record from"); name one by "
          + "on: { … }, or replay by \(RecordingMode.variable)=none")
    }
    let client = try TestClient(on: try await live(), reporter(), settings)
    do {
      return (try await body(client), client)
    } catch {
      if mode != .verify {
        reporter().warn("\(nothingRecorded), as the test ended with an error: \(error)")
      }
      throw error
    }
  }

  // MARK: Verifying

  private func verify<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> Result {
    try CassetteFile.check(place.path, settings.redact)
    let recorded = try SessionDigest(contentsOf: place.path, settings)
    let (result, client) = try await runLive(body)
    let run = try client.finishRecording()
    let lines = recorded.differences(to: try SessionDigest(recording: run, settings))
    guard !lines.isEmpty else { return result }
    let error = CassetteError(
      .differs,
      """
      \(place.path): the live run is another than the recorded one (- recorded, + now)
      \(lines.joined(separator: "\n"))
        record:   \(command)
      """)
    guard reporter().isHeard else { throw error }
    reporter().tell(error, at: location, run: run)
    return result
  }
}
