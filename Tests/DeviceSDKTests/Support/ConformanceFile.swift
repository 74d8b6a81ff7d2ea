import Foundation
import RepriseCore
import TestSupport

/// The files of the folder Conformance/sdk, as they stand beside the tests.
enum ConformanceFile {
  private static let folder = PackageFolder.url.appending(path: "Conformance/sdk")

  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  static func data(_ path: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: path))
  }

  /// Reads a file that is JSON.
  static func json(_ path: String) throws -> JSONValue {
    guard let value = JSONValue(parsing: Array(try data(path))) else {
      throw Wrong(description: "\(path) is no JSON")
    }
    return value
  }
}
