#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a test runs in.
enum Surroundings {
  /// Other variables than those of the process, for tests of what depends on them.
  @TaskLocal static var replaced: [String: String]?

  /// The variables that count.
  static var environment: [String: String] { replaced ?? ProcessInfo.processInfo.environment }
}
