/// Why cases can't be read, chosen or run.
package struct DriverError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The ways in which it can't be done.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// A case is not what a case must be.
    case badCase = "bad-case"
    /// No case has the name that was asked for.
    case unknownCase = "unknown-case"
    /// A command can't be started.
    case unstartable
    /// Nothing answers at the address, or nobody connects.
    case unreachable
    /// The subject can't be driven by what was given.
    case refused
  }

  /// What went wrong, as a stable name.
  package let code: Code
  /// One sentence for a reader, with what to do.
  package let message: String

  /// Creates an error.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
