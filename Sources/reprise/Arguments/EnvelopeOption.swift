import CloudSimulator
import RepriseCore
import Statistics

extension RequestEnvelope {
  /// Reads the file that `--envelope` names; nil without the option.
  /// - Parameter arguments: The arguments.
  /// - Throws: ``UsageError`` that names the file and the key.
  init?(_ arguments: Arguments) throws(UsageError) {
    guard let path = arguments.value(.envelope) else { return nil }
    let bytes = try SmallFile.bytes(path, "--envelope")
    do {
      try self.init(parsing: bytes)
    } catch {
      throw UsageError(
        "\(path): \(error.message)", "type reprise help simulate-frames for an example")
    }
  }
}

extension RequestKeys {
  /// Creates the keys of what `--envelope` names, or those of the SDK.
  /// - Parameter arguments: The arguments.
  /// - Throws: ``UsageError`` that names the file and the key.
  convenience init(_ arguments: Arguments) throws(UsageError) {
    self.init(try RequestEnvelope(arguments) ?? RequestEnvelope())
  }
}
