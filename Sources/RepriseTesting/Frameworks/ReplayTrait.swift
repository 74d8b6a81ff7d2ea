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
    let traits = test.traits.compactMap { $0 as? ReplayTrait }
    let world = try TestWorld.current ?? Self.world(of: traits, test, testCase)
    let run = try run(test, testCase, in: world)
    try await run.run { client in
      do {
        let world = world.adding(client, named: name(in: test))
        try await TestWorld.$current.withValue(world) {
          try await TestClient.$scoped.withValue(client) {
            try await IssueHandlingTrait.compactMapIssues { client.take($0) }
              .provideScope(for: test, testCase: testCase, performing: function)
          }
        }
      } catch let error as DataClientError where error.code == .diverged {
        client.tellDivergence(at: test.sourceLocation)
        // What is an issue already, at its own line, is not to be another one.
        guard client.isTold else { throw error }
      }
    }
  }

  private func name(in test: Test) -> String { name ?? Self.function(of: test) }

  private static func function(of test: Test) -> String { String(test.name.prefix { $0 != "(" }) }

  private func place(
    _ test: Test, _ testCase: Test.Case?
  ) throws(CassetteError) -> RecordingPlace {
    let name = name(in: test)
    let argument = try testCase.flatMap { testCase throws(CassetteError) in
      try ArgumentName.name(of: testCase, recording: name)
    }
    return try RecordingPlace(
      name, argument: argument, beside: test.sourceLocation.filePath, in: settings.folder)
  }

  /// The world of a test, whose recordings are there together or not at all.
  static func world(
    of traits: [ReplayTrait], _ test: Test, _ testCase: Test.Case?
  ) throws(CassetteError) -> TestWorld {
    guard let settings = traits.first?.settings, traits.count > 1 else {
      return TestWorld(isShared: false)
    }
    var (there, missing): ([String], [String]) = ([], [])
    for trait in traits {
      let place = try trait.place(test, testCase)
      guard !(there + missing).contains(place.path) else {
        throw CassetteError(
          .badName,
          "\(place.path): the test has this recording twice; give each client one of its own")
      }
      if place.exists { there.append(place.path) } else { missing.append(place.path) }
    }
    let mode = try RecordingMode.resolved(settings.mode, Surroundings.environment)
    guard let first = missing.first, !there.isEmpty, mode != .all else {
      return TestWorld(isShared: true)
    }
    throw CassetteError(
      .noRecording,
      "\(first): there is no such recording, and there are others of the same test; make all of them anew "
        + "by \(RecordingMode.variable)=all swift test --filter \(function(of: test))")
  }

  private func run(
    _ test: Test, _ testCase: Test.Case?, in world: TestWorld
  ) throws(CassetteError) -> CassetteRun {
    let place = try place(test, testCase)
    var (settings, mode) = (
      settings, try RecordingMode.resolved(settings.mode, Surroundings.environment)
    )
    if let time = world.time {
      if case .virtual = settings.options.pace { settings.options.pace = .shared(time) }
      // One recording that is made anew while the others are replayed would be of another world.
      if mode == .new { mode = .once }
    }
    return CassetteRun(
      settings: settings, place: place, mode: mode, location: test.sourceLocation,
      command:
        "\(RecordingMode.variable)=\(place.exists ? "all" : "once") swift test --filter "
        + Self.function(of: test))
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
  /// An app with several clients has a trait for each: the test asks for them by ``TestClient/named(_:)``. Their
  /// recordings are made together, and share one time (`SharedTime`): what was heard on one after what was heard on
  /// another is so in the replay. By mode ``RecordingMode/new`` they are made where there are none, as by
  /// ``RecordingMode/once``.
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
