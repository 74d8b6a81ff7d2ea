/// Why a device's identity can't be signed: a part is missing or can't be used, or the system forbids the method.
public struct SigningError: Error, Sendable, Hashable {
  /// What is wrong and what to do, for people; never a secret.
  public let message: String

  /// Creates an error.
  /// - Parameter message: What is wrong and what to do, for people; never a secret.
  public init(_ message: String) { self.message = message }
}

extension SigningError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
