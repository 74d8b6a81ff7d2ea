/// Why a conformance run can't be done.
public struct ConformanceError: Error, Sendable, Hashable {
  /// What went wrong, as a stable name.
  public let code: Code
  /// One sentence for a reader, with what to do.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The ways in which a run can't be done.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The embedded catalogue can't be read, or its entries and the rules don't fit.
    case badCatalogue = "bad-catalogue"
    /// No catalogue entry has the identifier, or lies in the section, that was asked for.
    case unknownClause = "unknown-clause"
    /// No scenario has the name that was asked for.
    case unknownScenario = "unknown-scenario"
    /// There is no catalogue of the standard that was asked for.
    case unknownSpec = "unknown-spec"
  }
}

extension ConformanceError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
