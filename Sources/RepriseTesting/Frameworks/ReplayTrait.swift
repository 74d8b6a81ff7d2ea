import Capture
public import RepriseCore
public import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Runs a test on a recording, or records it; made by `.replay`.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
  private let name: String?
  private let settings: CassetteSettings

  init(_ name: String?, _ settings: CassetteSettings) {
    self.name = name
    self.settings = settings
  }

  /// Whether each test of a suite has it: always, with a recording of its own.
  public var isRecursive: Bool { true }

  /// Returns what runs a case of a test on its recording; nil for what is no case.
  /// - Parameters:
  ///   - test: The test, or the suite.
  ///   - testCase: The case; a test without arguments has one.
  /// - Returns: The trait itself.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> ReplayTrait? {
    testCase == nil ? nil : self
  }

  /// Runs a case of a test on its recording, or records it.
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case.
  ///   - function: The test's body.
  /// - Throws: What the body throws but for a divergence, which is an issue already; and ``CassetteError``.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let run = try run(test, testCase)
    try await run.run { client in
      do {
        try await TestClient.$scoped.withValue(client) {
          try await IssueHandlingTrait.compactMapIssues { client.take($0) }
            .provideScope(for: test, testCase: testCase, performing: function)
        }
      } catch let error as DataClientError where error.code == .diverged {
        client.tellDivergence(at: test.sourceLocation)
        // What is an issue already, at its own line, is not to be another one.
        guard client.isTold else { throw error }
      }
    }
  }

  private func run(_ test: Test, _ testCase: Test.Case?) throws(CassetteError) -> CassetteRun {
    let function = String(test.name.prefix { $0 != "(" })
    let name = name ?? function
    let argument = try testCase.flatMap { testCase throws(CassetteError) in
      try ArgumentName.name(of: testCase, recording: name)
    }
    let place = try RecordingPlace(
      name, argument: argument, beside: test.sourceLocation.filePath, in: settings.folder)
    return CassetteRun(
      settings: settings, place: place,
      mode: try .resolved(settings.mode, Surroundings.environment), location: test.sourceLocation,
      command:
        "\(RecordingMode.variable)=\(place.exists ? "all" : "once") swift test --filter \(function)"
    )
  }
}

extension Trait where Self == ReplayTrait {
  /// Runs a test on a recording: its app gets ``TestClient/current``, and does what was recorded, in no time.
  ///
  /// ```swift
  /// @Test(.replay("bind", on: { try MosquittoClient(url: "mqtt://localhost") }))
  /// func bindsTheAccount() async throws {
  ///   try await withChannel(on: try TestClient.current, configuration: try .phone) { channel in
  ///     try await channel.start()
  ///     try await channel.bind(token: "t")
  ///   }
  /// }
  /// ```
  ///
  /// The recording lies beside the test's file, as `Recordings/bind.jsonl`; a case of a parameterised test has one of its
  /// own, with its arguments in the name. ``RecordingMode`` says when it is made: as it is never, and by
  /// `REPRISE_RECORD=once swift test` where there is none. A recording is written when the test has passed, whole or not
  /// at all.
  ///
  /// What the app does otherwise than the recording has is an issue at the line of the call, and so is what it leaves
  /// out, at the line of the test; the recording and that of this run are attached. A secret in clear fails the test.
  /// - Parameters:
  ///   - name: The name of the recording, with `/` between folders; nil is that of the test's function. One that ends in
  ///     `.pcap` or `.pcapng` is a capture, which is replayed only.
  ///   - selection: Whose part of a capture with several clients is replayed; a recording of a test has one client.
  ///   - mode: Whether to replay or to record, where the environment does not say it.
  ///   - match: How exactly actions have to be those of the recording; nil is as `options` say.
  ///   - redact: What is hidden in the recording, and must not stand in it in clear.
  ///   - options: How to compare, to wait and to tell the time.
  ///   - folder: The folder of the recordings; nil is `Recordings` beside the test's file.
  ///   - url: What the live client talks to, for the recording's first line; without a password.
  ///   - makeClient: Makes the live client to record from.
  /// - Returns: The trait.
  public static func replay(
    _ name: String? = nil, of selection: ReplaySelection = .only, mode: RecordingMode = .none,
    match: ReplayMatch? = nil,
    redact: RedactionRules = RedactionRules(), options: ReplayOptions = ReplayOptions(),
    in folder: String? = nil, url: String? = nil,
    on makeClient: (@Sendable () async throws -> any DataClient)? = nil
  ) -> ReplayTrait {
    ReplayTrait(
      name,
      CassetteSettings(
        mode: mode, selection: selection, match: match, redact: redact, options: options,
        folder: folder, url: url,
        live: makeClient))
  }
}
