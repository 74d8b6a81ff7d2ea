import Foundation
import Synchronization
import Testing

@testable import RepriseTesting

/// What a test within a test came to: its issues, which fail nothing here, and what it threw.
struct ToldIssues: Sendable, Equatable, CustomStringConvertible {
  /// An issue as the console prints it, but for the name of the test.
  struct Told: Sendable, Equatable {
    var line: Int
    var isFailure: Bool
    var text: String
  }

  var issues: [Told] = []
  var thrown: String?

  /// The issues, a line each, for tests that fail.
  var description: String {
    (issues.map { "\($0.line) \($0.isFailure ? "fails" : "warns"): \($0.text)" }
      + (thrown.map { ["thrown: \($0)"] } ?? [])).joined(separator: "\n")
  }

  /// Runs a test with a trait within the test that runs.
  ///
  /// The inner test has no arguments, whatever the outer one has, unless they are handed on.
  /// - Parameters:
  ///   - trait: The trait.
  ///   - environment: The variables that it sees.
  ///   - testCase: The arguments that it has.
  ///   - body: The inner test's body.
  /// - Returns: What it came to.
  /// - Throws: When there is no test to run it in.
  static func running(
    _ trait: ReplayTrait, _ environment: [String: String] = [:],
    as testCase: Test.Case? = nil, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> ToldIssues {
    let test = try #require(Test.current)
    return try await gathering {
      try await Surroundings.$replaced.withValue(environment) {
        try await trait.provideScope(for: test, testCase: testCase, performing: body)
      }
    }
  }

  /// Runs a test with several traits within the test that runs.
  /// - Parameters:
  ///   - traits: The traits, the outermost first.
  ///   - environment: The variables that they see.
  ///   - body: The inner test's body.
  /// - Returns: What it came to.
  /// - Throws: When there is no test to run it in.
  static func running(
    _ traits: [ReplayTrait], _ environment: [String: String] = [:],
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> ToldIssues {
    let test = try #require(Test.current)
    let whole = traits.reversed().reduce(body) { inner, trait in
      { try await trait.provideScope(for: test, testCase: nil, performing: inner) }
    }
    return try await gathering {
      try await Surroundings.$replaced.withValue(environment) {
        let world = try ReplayTrait.world(of: traits, test, nil)
        try await TestWorld.$current.withValue(world) { try await whole() }
      }
    }
  }

  /// Gathers what would be issues of the test that runs.
  static func gathering(
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> ToldIssues {
    let test = try #require(Test.current)
    let told = Mutex(ToldIssues())
    let trait: IssueHandlingTrait = .compactMapIssues { issue in
      let text =
        issue.error.map { "\($0)" } ?? issue.comments.map(\.rawValue).joined(separator: "\n")
      let line = issue.sourceLocation?.line ?? 0
      told.withLock {
        $0.issues.append(Told(line: line, isFailure: issue.isFailure, text: text))
      }
      return nil
    }
    do {
      try await trait.provideScope(for: test, testCase: .current, performing: body)
    } catch {
      told.withLock { $0.thrown = "\(error)" }
    }
    return told.withLock { $0 }
  }
}
