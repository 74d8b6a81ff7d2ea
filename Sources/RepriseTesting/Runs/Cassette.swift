public import RepriseCore
public import Testing

/// A recording, and the client to run code on it, for wherever there is no trait: in XCTest, in a program, or when a
/// test needs several.
///
/// Several of them are one world when their options have the same time: `ReplayOptions(pace: .shared(time))`.
///
/// ```swift
/// let cassette = try Cassette("lamp", record: .once) {
///   try MosquittoClient(url: "mqtt://localhost")
/// }
/// try await cassette.withClient { client in try await runLamp(client) }
/// ```
public struct Cassette: Sendable {
  private let run: CassetteRun

  /// Names a recording.
  /// - Parameters:
  ///   - name: Its name, with `/` between folders; one that ends in `.pcap` or `.pcapng` is a capture.
  ///   - selection: Whose part of a capture with several clients is replayed; a recording of a test has one client.
  ///   - mode: Whether to replay or to record, where the environment does not say it.
  ///   - match: How exactly actions have to be those of the recording; nil is as `options` say.
  ///   - redact: What is hidden in the recording, and must not stand in it in clear.
  ///   - options: How to compare, to wait and to tell the time.
  ///   - folder: The folder of the recordings; nil is `Recordings` beside the file of this line.
  ///   - url: What the live client talks to, for the recording's first line; without a password.
  ///   - sourceLocation: Where the recording is named.
  ///   - makeClient: Makes the live client to record from.
  /// - Throws: ``CassetteError`` for a name that no file can have, or a mode that there is not.
  public init(
    _ name: String, of selection: ReplaySelection = .only, record mode: RecordingMode = .none,
    match: ReplayMatch? = nil,
    redact: RedactionRules = RedactionRules(), options: ReplayOptions = ReplayOptions(),
    in folder: String? = nil, url: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    on makeClient: (@Sendable () async throws -> any DataClient)? = nil
  ) throws(CassetteError) {
    let settings = CassetteSettings(
      mode: mode, selection: selection, match: match, redact: redact, options: options,
      folder: folder, url: url,
      live: makeClient)
    let place = try RecordingPlace(name, beside: sourceLocation.filePath, in: folder)
    run = CassetteRun(
      settings: settings, place: place,
      mode: try .resolved(mode, Surroundings.environment), location: sourceLocation,
      command: "\(RecordingMode.variable)=\(place.exists ? "all" : "once") and this again")
  }

  /// The file of the recording.
  public var path: String { run.place.path }

  /// Whether it is replayed or made: what the environment says, or else the code.
  public var mode: RecordingMode { run.mode }

  /// Runs something on the recording, or records it.
  ///
  /// In a test of Swift Testing what diverges is an issue at the line of the call. Elsewhere it is thrown at the end,
  /// even where the body took it in hand. A recording is written when the body has returned, whole or not at all.
  /// - Parameter body: What is done with the client; by ``RecordingMode/new`` it is done twice when it does something
  ///   else than the recording has.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, `DataClientError` for what diverged or was left out, and ``CassetteError``.
  public func withClient<Result>(
    _ body: (TestClient) async throws -> Result
  ) async throws -> Result {
    try await run.run(body)
  }
}
